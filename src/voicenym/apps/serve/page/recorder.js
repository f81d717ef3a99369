// Records the microphone as the browser encodes it.
export class Recorder {
  #stream;
  #recorder;
  #parts = [];
  #began = 0;

  async start() {
    const constraints = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
    this.#stream = await navigator.mediaDevices.getUserMedia({ audio: constraints });
    this.#recorder = new MediaRecorder(this.#stream);
    this.#recorder.addEventListener("dataavailable", (event) => this.#parts.push(event.data));
    this.#recorder.start();
    this.#began = performance.now();
  }

  // The recording as a file, and its seconds.
  async stop() {
    const ended = new Promise((resolve) => this.#recorder.addEventListener("stop", resolve));
    this.#recorder.stop();
    await ended;
    for (const track of this.#stream.getTracks()) track.stop();
    const type = this.#recorder.mimeType.split(";")[0];
    const suffix = { "audio/webm": "webm", "audio/mp4": "m4a", "audio/ogg": "ogg" }[type] ?? "webm";
    const file = new File(this.#parts, `recording.${suffix}`, { type });
    return { file, seconds: (performance.now() - this.#began) / 1000 };
  }
}
