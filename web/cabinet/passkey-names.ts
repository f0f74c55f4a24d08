/** Signs of a User-Agent, the first that fits says the name. */
const systems = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Mac OS', 'Mac'],
  ['Windows', 'Windows'],
  ['CrOS', 'Chromebook'],
  ['Linux', 'Linux'],
] as const;
const browsers = [
  ['Firefox/', 'Firefox'],
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

/** What a passkey is called in the list: the system that it was made on. */
export function deviceName(agent = navigator.userAgent): string {
  return systems.find(([sign]) => agent.includes(sign))?.[1] ?? 'Passkey';
}

/** A User-Agent for people: 'Chrome on Mac'. An unknown one stays as it is. */
export function browserName(agent: string): string {
  const browser = browsers.find(([sign]) => agent.includes(sign))?.[1];
  const system = systems.find(([sign]) => agent.includes(sign))?.[1];
  if (browser === undefined || system === undefined) return system ?? (agent || 'Unknown browser');
  return `${browser} on ${system}`;
}
