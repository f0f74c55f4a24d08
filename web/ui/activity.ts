/** How long after the last key or click a request still counts as activity of the person. */
const activityMs = 60_000;
let lastInput = performance.now();
for (const kind of ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const) {
  addEventListener(
    kind,
    () => {
      lastInput = performance.now();
    },
    { passive: true, capture: true },
  );
}

/**
 * Whether the person was active of late. Requests of a page in the background carry the header
 * `X-Background`, so that they do not extend the session.
 */
export function isActive(): boolean {
  return performance.now() - lastInput <= activityMs;
}
