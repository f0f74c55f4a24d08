/** Whether the program runs in a browser: in a page, or in a worker of one. */
export function isBrowser(): boolean {
  const scope = globalThis as { window?: unknown; document?: unknown; importScripts?: unknown };
  const isPage = typeof scope.window === 'object' && typeof scope.document === 'object';
  return isPage || typeof scope.importScripts === 'function';
}

/** Throws a TypeError: a key in a browser can be read by each visitor. */
export function refuseKey(): never {
  throw new TypeError(
    'A partner key does not belong into a browser, where every visitor can read it. Call the gateway from ' +
      'your server. If only you use this page, set dangerouslyAllowBrowser.',
  );
}
