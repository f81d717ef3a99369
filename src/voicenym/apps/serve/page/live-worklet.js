// The audio thread of a live session: the microphone in frames to the page, answers of the server to
// the loudspeaker. The microphone's samples go to the page alone; the loudspeaker gets samples of
// answers, or zeros.
const FRAME_SECONDS = 0.016; // at least; a multiple of what the browser processes at once
const PREFILL_SECONDS = 0.06; // sound that waits for late answers
const MOST_SECONDS = 2; // delay from which sound is dropped; the longest blocks alone make 0.9 s
const REPORT_SECONDS = 0.1;

class LiveVoice extends AudioWorkletProcessor {
  constructor() {
    super();
    this.running = false;
    this.port.onmessage = ({ data }) => {
      if (data.begin) this.begin();
      else if (data.end) this.running = false;
      else if (this.running) this.add(data);
    };
  }

  begin() {
    this.running = true;
    this.captured = 0; // samples of the microphone since the begin
    this.frame = null;
    this.discard();
    this.last = { played: 0, silent: 0, dropouts: 0, late: 0, input: 0, output: 0, delay: null };
    this.reportIn = REPORT_SECONDS * sampleRate;
  }

  discard() {
    this.queue = [];
    this.level = 0; // samples in the queue
    this.plays = false;
  }

  // An answer: { samples, source }, of which source is the position of the sound that it was made
  // from, null for silence.
  add(answer) {
    this.queue.push({ ...answer, place: 0 });
    this.level += answer.samples.length;
    const wanted = PREFILL_SECONDS * sampleRate;
    if (this.level > 3 * wanted) this.cut(this.level - wanted);
  }

  // Drops the oldest samples, which keeps the delay.
  cut(count) {
    let left = Math.floor(count);
    while (left > 0) {
      const answer = this.queue[0];
      const some = Math.min(left, answer.samples.length - answer.place);
      answer.place += some;
      this.level -= some;
      left -= some;
      if (answer.place === answer.samples.length) this.queue.shift();
    }
  }

  process([input], [output]) {
    const speaker = output[0];
    if (!this.running) return true; // the browser has filled the output with zeros
    const microphone = input[0] ?? new Float32Array(speaker.length);
    this.capture(microphone);
    this.play(speaker);
    for (const other of output.slice(1)) other.set(speaker);
    this.measure(microphone, speaker);
    return true;
  }

  capture(microphone) {
    const count = microphone.length;
    const wanted = count * Math.ceil((FRAME_SECONDS * sampleRate) / count);
    this.frame ??= { at: this.captured, samples: new Float32Array(wanted), filled: 0 };
    this.frame.samples.set(microphone, this.frame.filled);
    this.frame.filled += count;
    this.captured += count;
    if (this.frame.filled === wanted) {
      const { at, samples } = this.frame;
      this.port.postMessage({ at, samples }, [samples.buffer]);
      this.frame = null;
    }
  }

  // Fills the loudspeaker's block; what is not there stays zero.
  play(speaker) {
    if (!this.plays) this.plays = this.level >= PREFILL_SECONDS * sampleRate;
    let [place, sounds] = [0, false];
    while (this.plays && place < speaker.length) {
      const answer = this.queue[0];
      if (!answer) {
        this.plays = false; // waits until sound is there again
        this.last.dropouts += 1;
        break;
      }
      if (answer.source !== null) {
        const delay = (this.captured - (answer.source + answer.place)) / sampleRate;
        if (delay > MOST_SECONDS) {
          this.last.late += 1;
          this.discard();
          break;
        }
        this.last.delay = delay;
        sounds = true;
      }
      const count = Math.min(speaker.length - place, answer.samples.length - answer.place);
      speaker.set(answer.samples.subarray(answer.place, answer.place + count), place);
      place += count;
      answer.place += count;
      this.level -= count;
      if (answer.place === answer.samples.length) this.queue.shift();
    }
    if (sounds) this.last.played += 1;
    else this.last.silent += 1;
  }

  measure(microphone, speaker) {
    const peak = (block) => block.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    this.last.input = Math.max(this.last.input, peak(microphone));
    this.last.output = Math.max(this.last.output, peak(speaker));
    this.reportIn -= speaker.length;
    if (this.reportIn > 0) return;
    this.port.postMessage({ report: this.last });
    this.reportIn += REPORT_SECONDS * sampleRate;
    this.last = { ...this.last, played: 0, silent: 0, input: 0, output: 0, delay: null };
  }
}

registerProcessor("live-voice", LiveVoice);
