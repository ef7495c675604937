// The time that a person spends on a task; it stops while the page is hidden or paused.

/** A stopwatch of seconds. */
export class Timer {
  constructor(seconds = 0) {
    this.before = seconds;
    this.startedAt = null;
    this.isPaused = false;
    document.addEventListener("visibilitychange", () => this.update());
    this.update();
  }

  get seconds() {
    const running = this.startedAt === null ? 0 : (performance.now() - this.startedAt) / 1000;
    return Math.round((this.before + running) * 10) / 10;
  }

  setPaused(isPaused) {
    this.isPaused = isPaused;
    this.update();
  }

  update() {
    const isRunning = !this.isPaused && document.visibilityState === "visible";
    if (isRunning && this.startedAt === null) this.startedAt = performance.now();
    if (!isRunning && this.startedAt !== null) {
      this.before = this.seconds;
      this.startedAt = null;
    }
  }
}

/** A time to come, such as "about 8 min". */
export function formatTimeLeft(seconds) {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return minutes < 90 ? `about ${minutes} min` : `about ${Math.round(minutes / 60)} h`;
}

/** Minutes and seconds, such as 3:07. */
export function formatSeconds(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
