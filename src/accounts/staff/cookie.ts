import type { IncomingMessage } from 'node:http';

/** The value of a cookie; null when it is absent or given twice. */
export function cookieOf(req: IncomingMessage, name: string): string | null {
  const values = (req.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}
