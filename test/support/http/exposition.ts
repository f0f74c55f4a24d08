/** The value of one series, its labels in any order; null when there is none. */
export function sampleOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number | null {
  for (const line of text.split('\n')) {
    const [, found, list = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const own = Object.fromEntries([...list.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text = '']) => [label, text]));
    const wanted = Object.entries(labels);
    if (found === name && wanted.every(([label, text]) => own[label] === text)) return Number(value);
  }
  return null;
}

/** The value of one series of a gateway's `/metrics`, which must be there. */
export async function metric(
  internalUrl: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const value = sampleOf(await (await fetch(`${internalUrl}/metrics`)).text(), name, labels);
  if (value === null) throw new Error(`there is no ${name}`);
  return value;
}
