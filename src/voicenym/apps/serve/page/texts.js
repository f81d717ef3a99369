// All texts of the page. A translation is a further entry with the same names.
export const TEXTS = {
  en: {
    purpose: "Hides who speaks in a recording, and keeps what is said.",
    tokenTitle: "This server asks for a token",
    tokenLabel: "Token (it is kept until the page is closed)",
    tokenUse: "Use the token",
    sourceTitle: "1. The recording",
    fileLabel: "Sound or film",
    dropHint: "Choose a file, or drop it here.",
    record: "Record by microphone",
    recordStop: "Stop the recording",
    recorded: "A recording of {seconds} s is ready.",
    noMicrophone: "The microphone cannot be used: allow it in the browser, or choose a file.",
    chosen: "{name} ({size} MB) is ready.",
    systemTitle: "2. What shall be protected",
    eerHelp: "Figures are measured: equal error rates of attackers, of which 50 % is chance and 0 % means that the speaker is found.",
    systemStops: "Stops {stops}.",
    systemAttacker: "Strongest attacker measured: {attacker}, {eer} %.",
    systemWords: "Words wrong: {after} % ({before} % before).",
    usual: "usual choice",
    start: "3. Hide the voice",
    forget: "Forget everything",
    forgotten: "Everything is forgotten, here and on the server.",
    workTitle: "Work",
    progressLabel: "Progress",
    sending: "The recording is being sent.",
    queued: "The recording waits for its turn.",
    running: "{seconds} s are done.",
    runningOf: "{seconds} of {of} s are done.",
    auditing: "The result is being attacked, to see what can be recognised.",
    done: "Done. Listen to the result before you publish it.",
    resultTitle: "The result",
    before: "Before",
    after: "After",
    spectrumBefore: "Spectrogram of the recording before, 0 to 8 kHz",
    spectrumAfter: "Spectrogram of the recording after, 0 to 8 kHz",
    noSpectrum: "No spectrogram: this browser cannot decode the file, or it is too long.",
    download: "Download the result",
    otherSystem: "Made by {system} instead: {reason}.",
    auditTitle: "What attackers made of it",
    auditCaption: "Attackers, the strongest first",
    attacker: "Attacker",
    finding: "Finds the pair",
    noAudit: "The audit could not run: {reason}",
    limits: "The words, names and places that are spoken stay, and so do accent, rhythm and background. If a life depends on it, publish a transcript that somebody else reads.",
    privacy: "The recording goes to this server alone. The server wipes it as soon as the result is made, and the result as soon as it is here.",
    failed: "It did not work: {detail} {cure}",
    unreachable: "The server does not answer: is it still running?",
  },
};

const language = Object.keys(TEXTS).find((one) => navigator.language.startsWith(one)) ?? "en";

export function text(name, values = {}) {
  return TEXTS[language][name].replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

export function fill(root = document) {
  document.documentElement.lang = language;
  for (const element of root.querySelectorAll("[data-text]")) {
    element.textContent = text(element.dataset.text);
  }
}
