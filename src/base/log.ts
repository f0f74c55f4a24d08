import { type DestinationStream, destination, pino } from 'pino';

/**
 * The only members that a log line may carry. The log drops all others before it writes, so that a
 * body, a key, a signature or an address cannot reach it by mistake.
 */
const allowedNames = [
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
  'cause',
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
  'adverse_bps',
] as const;

const allowedMembers: ReadonlySet<string> = new Set(allowedNames);

/** The members of a log line. The compiler refuses any other name in a literal. */
type LogMembers = { readonly [Name in (typeof allowedNames)[number]]?: unknown };

export interface Log {
  isLevelEnabled(level: string): boolean;
  debug(members: LogMembers, message: string): void;
  info(members: LogMembers, message: string): void;
  warn(members: LogMembers, message: string): void;
  error(members: LogMembers, message: string): void;
}

/**
 * The size of one write to a pipe (PIPE_BUF). Writes of this size are atomic, so that the lines of
 * processes that share the pipe are never mixed.
 */
const atomicWriteBytes = 4096;

/**
 * Creates the structured log: one JSON object a line, on standard error unless `stream` is given.
 */
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

/**
 * The loggable facts of an error: its class, the driver's code, and a stack without the message's
 * values.
 */
export function errorMembers(error: unknown): LogMembers {
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
