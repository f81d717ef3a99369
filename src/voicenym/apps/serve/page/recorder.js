// Records the microphone as the browser encodes it.
export class Recorder {
  #stream;
  #recorder;
  #parts = [];
  #seconds = 0;
  #ended;
  #unwanted = false;

  // ended() is called when the recording ends, also by itself, as when the microphone is unplugged.
  async start(ended) {
    const constraints = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
    this.#stream = await navigator.mediaDevices.getUserMedia({ audio: constraints });
    try {
      if (this.#unwanted) throw new Error("the recording was discarded");
      this.#recorder = new MediaRecorder(this.#stream);
      this.#recorder.addEventListener("dataavailable", (event) => this.#parts.push(event.data));
      this.#ended = new Promise((resolve) => this.#recorder.addEventListener("stop", resolve));
      this.#recorder.start();
    } catch (error) {
      this.#release();
      throw error;
    }
    const began = performance.now();
    this.#ended.then(() => {
      this.#seconds = (performance.now() - began) / 1000;
      ended();
    });
  }

  // Whether the microphone is open.
  get records() {
    return this.#ended !== undefined;
  }

  // The recording as a file, and its seconds.
  async stop() {
    if (this.#recorder.state !== "inactive") this.#recorder.stop();
    await this.#ended;
    this.#release();
    const type = this.#recorder.mimeType.split(";")[0];
    const suffix = { "audio/webm": "webm", "audio/mp4": "m4a", "audio/ogg": "ogg" }[type] ?? "webm";
    return { file: new File(this.#parts, `recording.${suffix}`, { type }), seconds: this.#seconds };
  }

  // Closes the microphone and keeps nothing; a microphone that opens later is closed at once.
  discard() {
    this.#unwanted = true;
    this.#release();
  }

  #release() {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
  }
}
