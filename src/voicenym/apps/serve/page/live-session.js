// A live session: frames of the microphone to the server, its answers to the loudspeaker. Whatever
// fails, silence goes out: the microphone is not connected with the loudspeaker.
import { protocols } from "./server.js";
import { text } from "./texts.js";

const RATE = 16000; // at which no conversion adds to the delay
const MOST_RATE = 48000; // that the server takes; the audio thread converts what is above it
const NO_SOURCE = 0xffffffff;
const HEADER = 12;
const STATES = ["starting", "running", "stopped", "overloaded", "failed", "lost", "ended"];
const STALL_MS = 500; // without an answer of the server
const NOTHING = { input: 0, output: 0, delay: null, dropouts: 0, late: 0 };
const MOST_UNSENT_SECONDS = 2;

export class LiveSession {
  #context;
  #rate; // of the frames
  #stream;
  #voice;
  #socket;
  #heard = 0;
  #answered = 0;
  #state = "starting";
  #watch;
  #strained = false; // whether the server found itself too slow at the start
  #late = 0; // answers that were dropped because they were too late
  #lastLate = -Infinity; // when the last of them was
  #reported = 0; // when the audio thread last said what it plays
  #tell;
  #problem = "";

  // tell({ light, input, output, delay, devices, dropouts, late, strained }) several times a second; light is a name
  // of LIGHTS in the panel. tell({ ended }) with a sentence at the end.
  constructor(tell) {
    this.#tell = tell;
  }

  async start(system) {
    try {
      await this.#open();
      this.#connect(system);
    } catch (error) {
      this.#release();
      if (this.#tell !== null) throw error;
    }
  }

  // The user may end the session while it waits for the microphone: then nothing of it may go on.
  #stillWanted() {
    if (this.#tell === null) throw new Error("the session was ended");
  }

  async #open() {
    const constraints = { echoCancellation: false, noiseSuppression: false, autoGainControl: true };
    try {
      this.#stream = await navigator.mediaDevices.getUserMedia({ audio: constraints });
    } catch {
      throw new Error(text("noMicrophone"));
    }
    this.#stillWanted();
    let source;
    try {
      this.#context = new AudioContext({ sampleRate: RATE, latencyHint: "interactive" });
      source = this.#context.createMediaStreamSource(this.#stream);
    } catch {
      await this.#context?.close(); // this browser does not convert the microphone's rate
      this.#stillWanted();
      this.#context = new AudioContext({ latencyHint: "interactive" });
      source = this.#context.createMediaStreamSource(this.#stream);
    }
    try {
      await this.#context.audioWorklet.addModule("/page/live-worklet.js");
    } catch {
      throw new Error(text("unreachable"));
    }
    this.#stillWanted();
    let factor = 1; // a power of two, of which the browser's blocks are multiples
    while (this.#context.sampleRate / factor > MOST_RATE) factor *= 2;
    this.#rate = this.#context.sampleRate / factor;
    this.#voice = new AudioWorkletNode(this.#context, "live-voice", {
      numberOfInputs: 1,
      numberOfOutputs: 1,
      outputChannelCount: [1],
      channelCount: 1,
      channelCountMode: "explicit",
      processorOptions: { factor },
    });
    source.connect(this.#voice).connect(this.#context.destination);
    this.#voice.port.onmessage = ({ data }) => (data.report ? this.#report(data.report) : this.#send(data));
    this.#voice.onprocessorerror = () => this.stop(text("liveFailed"));
    const [track] = this.#stream.getAudioTracks();
    track.onended = () => this.stop(text("liveNoMicrophone"));
    await this.#context.resume();
    this.#stillWanted();
    this.#watch = setInterval(() => {
      const begun = this.#answered !== 0; // the audio thread reports from then on
      const silent = performance.now() - this.#reported > STALL_MS;
      if (begun && silent) this.#tell?.({ ...NOTHING, light: "still" });
    }, STALL_MS);
  }

  #connect(system) {
    const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/live`;
    this.#socket = new WebSocket(address, protocols());
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () =>
      this.#socket.send(JSON.stringify({ system, rate: this.#rate }));
    this.#socket.onmessage = ({ data }) => (typeof data === "string" ? this.#event(JSON.parse(data)) : this.#answer(data));
    this.#socket.onclose = () => this.stop(this.#problem || text("liveClosed"));
  }

  #event(event) {
    if (event.event === "problem") {
      this.#problem = text("failed", { detail: event.detail, cure: event.cure });
    } else if (event.event === "ready") {
      this.#answered = this.#reported = performance.now();
      this.#strained = !event.holds;
      this.#voice.port.postMessage({ begin: true });
    }
  }

  #send({ at, samples }) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const data = new ArrayBuffer(HEADER + 2 * samples.length);
    const view = new DataView(data);
    view.setUint32(0, at, true);
    view.setUint32(4, this.#rate, true);
    view.setUint32(8, this.#heard, true);
    samples.forEach((value, place) => {
      const limited = Math.max(-1, Math.min(1, value));
      view.setInt16(HEADER + 2 * place, Math.round(32767 * limited), true);
    });
    this.#socket.send(data);
    if (this.#socket.bufferedAmount > MOST_UNSENT_SECONDS * 2 * this.#rate) {
      this.stop(text("liveSlow"));
    }
  }

  #answer(data) {
    const view = new DataView(data);
    this.#heard = view.getUint32(0, true);
    const source = view.getUint32(4, true);
    this.#state = STATES[view.getUint8(8)];
    this.#answered = performance.now();
    const samples = new Float32Array((data.byteLength - HEADER) / 2);
    for (let place = 0; place < samples.length; place += 1) {
      samples[place] = view.getInt16(HEADER + 2 * place, true) / 32768;
    }
    // The source may lie before the begin of the session by less than a frame.
    const position = source === NO_SOURCE ? null : source > 0xf0000000 ? source - 2 ** 32 : source;
    this.#voice.port.postMessage({ samples, source: position }, [samples.buffer]);
  }

  #report(report) {
    this.#reported = performance.now();
    const waits = performance.now() - this.#answered > STALL_MS;
    if (report.late > this.#late) this.#lastLate = performance.now();
    this.#late = report.late;
    const tooLate = performance.now() - this.#lastLate < STALL_MS;
    let light = "sound";
    if (this.#answered === 0) light = "starting";
    else if (waits) light = "lost";
    else if (this.#state !== "running") light = this.#state;
    else if (report.played === 0) light = tooLate ? "lost" : "waiting";
    const devices = (this.#context.baseLatency ?? 0) + (this.#context.outputLatency ?? 0);
    this.#tell({ ...report, light, devices, strained: this.#strained });
  }

  async stop(why = "") {
    if (this.#tell === null) return;
    const tell = this.#tell;
    this.#tell = null;
    this.#release();
    tell({ ended: why });
  }

  #release() {
    clearInterval(this.#watch);
    this.#voice?.port.postMessage({ end: true });
    if (this.#voice) this.#voice.port.onmessage = null;
    this.#voice?.disconnect();
    if (this.#socket) this.#socket.onclose = this.#socket.onmessage = null;
    this.#socket?.close();
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    if (this.#context && this.#context.state !== "closed") this.#context.close(); // it may take its time
  }
}
