import { type DestinationStream, destination, pino } from 'pino';

/**
 * The only members that a log line may carry. Everything else is dropped before it is written, so that a body, a key,
 * a signature or an address cannot reach the log by mistake.
 */
const allowedMembers = new Set([
  'event',
  'request_id',
  'method',
  'route',
  'status',
  'ms',
  'partner_id',
  'key_id',
  'staff_id',
  'ip_prefix',
  'order_id',
  'payment_id',
  'code',
  'detail',
  'constraint',
  'error',
  'stack',
  'coin',
  'network',
  'count',
  'signal',
  'role',
  'setting',
  'port',
  'bucket',
  'version',
]);

export interface Log {
  isLevelEnabled(level: string): boolean;
  debug(members: Record<string, unknown>, message: string): void;
  info(members: Record<string, unknown>, message: string): void;
  warn(members: Record<string, unknown>, message: string): void;
  error(members: Record<string, unknown>, message: string): void;
}

/** So much is written to a pipe at once (PIPE_BUF): lines of processes that share it are never mixed. */
const atomicWriteBytes = 4096;

/** Structured logs, one JSON object a line, on standard error unless told otherwise. */
export function createLog(level: string, stream?: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: allowed,
      },
    },
    stream ?? destination({ dest: 2, sync: false, maxWrite: atomicWriteBytes }),
  );
}

function allowed(members: Record<string, unknown>): Record<string, unknown> {
  for (const name in members) {
    if (!allowedMembers.has(name)) {
      return Object.fromEntries(Object.entries(members).filter(([each]) => allowedMembers.has(each)));
    }
  }
  return members;
}

/** The loggable facts of an error: its class and driver code, and a stack without the message's values. */
export function errorMembers(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const constraint = 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined;
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .slice(0, 12)
    .map((line) => line.trim());
  return { error: error.name, code, constraint, stack: frames.join(' | ') };
}
