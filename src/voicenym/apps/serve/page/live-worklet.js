// The audio thread of a live session: the microphone in frames to the page, answers of the server to
// the loudspeaker. The microphone's samples go to the page alone; the loudspeaker gets samples of
// answers, or zeros.
const FRAME_SECONDS = 0.016; // at least; a multiple of what the browser processes at once
const PREFILL_SECONDS = 0.06; // sound that waits for late answers
const MOST_SECONDS = 2; // delay from which sound is dropped; the longest blocks alone make 0.9 s
const REPORT_SECONDS = 0.1;
const TAPS = 32; // of the filters of rate conversion, at the rate of the frames

// Weights of a low-pass filter for a rate that is factor times another one, of sum one: a sinc in a
// Blackman window, which is down at half of the lower rate.
function lowPass(factor) {
  const count = TAPS * factor;
  const weights = Float32Array.from({ length: count }, (_, place) => {
    const phase = (2 * Math.PI * (place + 0.5)) / count;
    const x = (Math.PI * 0.83 * (place + 0.5 - count / 2)) / factor; // never zero
    return (Math.sin(x) / x) * (0.42 - 0.5 * Math.cos(phase) + 0.08 * Math.cos(2 * phase));
  });
  const sum = weights.reduce((one, other) => one + other, 0);
  return weights.map((weight) => weight / sum);
}

// Takes blocks at a rate to a factor-th of it; a block holds a multiple of factor samples.
class Decimator {
  constructor(factor) {
    this.factor = factor;
    this.weights = lowPass(factor);
    this.past = new Float32Array(this.weights.length - factor);
  }

  push(block) {
    const whole = new Float32Array(this.past.length + block.length);
    whole.set(this.past);
    whole.set(block, this.past.length);
    this.past = whole.slice(block.length);
    return Float32Array.from({ length: block.length / this.factor }, (_, place) => {
      let sum = 0;
      const first = place * this.factor;
      for (let tap = 0; tap < this.weights.length; tap += 1) sum += this.weights[tap] * whole[first + tap];
      return sum;
    });
  }
}

// The way back: zeros are put between the samples, and filtered.
class Interpolator {
  constructor(factor) {
    this.factor = factor;
    this.weights = lowPass(factor).map((weight) => factor * weight);
    this.past = new Float32Array(TAPS - 1);
  }

  // Fills target with factor times as many samples as block has.
  push(block, target) {
    const whole = new Float32Array(this.past.length + block.length);
    whole.set(this.past);
    whole.set(block, this.past.length);
    this.past = whole.slice(block.length);
    for (let place = 0; place < target.length; place += 1) {
      const first = Math.floor(place / this.factor);
      const phase = place % this.factor;
      let sum = 0;
      for (let tap = 0; tap < TAPS; tap += 1) {
        sum += this.weights[(TAPS - 1 - tap) * this.factor + phase] * whole[first + tap];
      }
      target[place] = sum;
    }
  }
}

class LiveVoice extends AudioWorkletProcessor {
  // processorOptions.factor: the frames have a factor-th of the browser's rate.
  constructor({ processorOptions: { factor } }) {
    super();
    this.rate = sampleRate / factor;
    this.down = factor > 1 ? new Decimator(factor) : null;
    this.up = factor > 1 ? new Interpolator(factor) : null;
    this.filters = factor > 1 ? (TAPS - 1) / this.rate : 0; // delay of both, in seconds
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
    this.reportIn = REPORT_SECONDS * this.rate;
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
    const wanted = PREFILL_SECONDS * this.rate;
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
    if (!this.running) return true; // the browser has filled the output with zeros
    const given = input[0] ?? new Float32Array(output[0].length);
    const microphone = this.down ? this.down.push(given) : given;
    this.capture(microphone);
    const speaker = new Float32Array(microphone.length);
    this.play(speaker);
    if (this.up) this.up.push(speaker, output[0]);
    else output[0].set(speaker);
    for (const other of output.slice(1)) other.set(output[0]);
    this.measure(microphone, speaker);
    return true;
  }

  capture(microphone) {
    const count = microphone.length;
    const wanted = count * Math.ceil((FRAME_SECONDS * this.rate) / count);
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
    if (!this.plays) this.plays = this.level >= PREFILL_SECONDS * this.rate;
    let [place, sounds] = [0, false];
    while (this.plays && place < speaker.length) {
      const answer = this.queue[0];
      if (!answer) {
        this.plays = false; // waits until sound is there again
        this.last.dropouts += 1;
        break;
      }
      if (answer.source !== null) {
        const delay = (this.captured - (answer.source + answer.place)) / this.rate + this.filters;
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
    this.reportIn += REPORT_SECONDS * this.rate;
    this.last = { ...this.last, played: 0, silent: 0, input: 0, output: 0, delay: null };
  }
}

registerProcessor("live-voice", LiveVoice);
