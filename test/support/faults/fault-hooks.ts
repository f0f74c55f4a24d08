// Loaded into a gateway's processes by --import: what goes wrong with the machine itself, as a file
// says that GATEWAY_FAULTS names. Its clock jumps, and names are no longer found.
import dns from 'node:dns';
import { readFileSync } from 'node:fs';

/** What the file holds, as JSON. */
export interface MachineFaults {
  readonly clockOffsetMs: number;
  /** Whether names end to be found; connections that are there go on. */
  readonly isNameless: boolean;
}

/** Names of this machine while it has names. */
const domain = '.fault.test';
const lookEveryMs = 20;
let faults: MachineFaults = { clockOffsetMs: 0, isNameless: false };

function look(): void {
  try {
    faults = JSON.parse(readFileSync(process.env.GATEWAY_FAULTS ?? '', 'utf8'));
  } catch {
    // Being written, or not yet.
  }
}
look();
setInterval(look, lookEveryMs).unref();

const RealDate = Date;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, self) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + faults.clockOffsetMs] : args, self),
  apply: () => new Date().toString(),
  get: (target, name, self) =>
    name === 'now' ? () => RealDate.now() + faults.clockOffsetMs : Reflect.get(target, name, self),
});

const realLookup = dns.lookup;
type Arguments = [name: string, options: object, done: (error: Error | null, ...found: unknown[]) => void];
dns.lookup = ((...[name, options, done]: Arguments) => {
  if (!name.endsWith(domain)) return (realLookup as (...args: Arguments) => void)(name, options, done);
  if (!faults.isNameless) return (realLookup as (...args: Arguments) => void)('127.0.0.1', options, done);
  const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), {
    code: 'ENOTFOUND',
    syscall: 'getaddrinfo',
  });
  process.nextTick(done, error);
}) as typeof dns.lookup;
