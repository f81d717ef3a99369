// Draws the spectrogram of a recording, 0 to 8 kHz, 60 dB, for the eye alone.
const SIZE = 1024;
const RANGE = 60;
const MOST_BYTES = 64 << 20;
const MOST_SECONDS = 1200; // decoded at 48 kHz, two channels have 0.5 GB

// Draws a recording of so many seconds, and tells whether it could. Throws, and leaves the canvas, once the signal is
// aborted.
export async function draw(canvas, blob, seconds, signal) {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (blob.size > MOST_BYTES || seconds > MOST_SECONDS) return false;
  let sound;
  try {
    sound = await new OfflineAudioContext(1, 1, 16000).decodeAudioData(await blob.arrayBuffer());
  } catch {
    return false;
  } finally {
    signal.throwIfAborted();
  }
  const samples = sound.getChannelData(0);
  const columns = [];
  let top = -Infinity;
  for (let x = 0; x < canvas.width; x += 1) {
    const centre = Math.floor(((x + 0.5) / canvas.width) * samples.length);
    const levels = power(samples, centre - SIZE / 2);
    columns.push(levels);
    for (const level of levels) top = Math.max(top, level);
  }
  const image = context.createImageData(canvas.width, canvas.height);
  columns.forEach((levels, x) => {
    for (let y = 0; y < canvas.height; y += 1) {
      const bin = Math.floor(((canvas.height - 1 - y) / canvas.height) * levels.length);
      const value = Math.min(1, Math.max(0, 1 + (levels[bin] - top) / RANGE));
      image.data.set(colour(value), 4 * (y * canvas.width + x));
    }
  });
  context.putImageData(image, 0, 0);
  return true;
}

function colour(value) {
  return [255 * Math.min(1, 1.6 * value), 255 * value * value, 90 + 120 * value * (1 - value), 255];
}

// Power in dB of SIZE samples under a Hann window, by a radix-2 Fourier transform.
function power(samples, begin) {
  const real = new Float64Array(SIZE);
  const imaginary = new Float64Array(SIZE);
  for (let i = 0, j = 0; i < SIZE; i += 1) {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / SIZE);
    real[j] = (samples[begin + i] ?? 0) * window;
    let bit = SIZE >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
  }
  for (let half = 1; half < SIZE; half *= 2) {
    for (let k = 0; k < half; k += 1) {
      const angle = (-Math.PI * k) / half;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let i = k; i < SIZE; i += 2 * half) {
        const [a, b] = [real[i + half], imaginary[i + half]];
        const [re, im] = [a * c - b * s, a * s + b * c];
        real[i + half] = real[i] - re;
        imaginary[i + half] = imaginary[i] - im;
        real[i] += re;
        imaginary[i] += im;
      }
    }
  }
  return Array.from({ length: SIZE / 2 }, (_, i) => 10 * Math.log10(real[i] ** 2 + imaginary[i] ** 2 + 1e-9));
}
