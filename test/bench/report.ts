import { type Endpoint, p99Goal } from './endpoints.ts';
import type { Load } from './load.ts';

/** One measurement of one server. */
export interface Figures extends Load {
  /**
   * CPU time for a thousand requests, in ms: of the server, and of PostgreSQL. Null where it cannot
   * be read.
   */
  readonly cpuMs: number | null;
  readonly postgresCpuMs: number | null;
  readonly residentMiB: number | null;
}

export interface Round {
  readonly gateway: Figures;
  readonly limit: Figures;
}

/** What one request sends, as the median of some. */
export interface Cost {
  readonly statements: number;
  readonly roundTrips: number;
  readonly redisCommands: number | null;
}

export interface Measured {
  readonly endpoint: Pick<Endpoint, 'id' | 'name' | 'goal'>;
  readonly rounds: readonly Round[];
  readonly costs: { readonly gateway: Cost; readonly limit: Cost };
}

/** Null when there is none. */
export function median(values: readonly (number | null)[]): number | null {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return null;
  const [low = 0, high = 0] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}

export const shown = (value: number | null, digits = 0): string => (value === null ? '–' : value.toFixed(digits));

/**
 * Requests a second and latencies by endpoint and server, then the ratios of the two with the
 * goals.
 */
export function report(measured: readonly Measured[]): string {
  return `${figureTable(measured)}\n\n${ratioTable(measured)}${voidLines(measured)}\n`;
}

function figureTable(measured: readonly Measured[]): string {
  const lines = [
    '| endpoint | server | requests/s | p50 ms | p99 ms | CPU ms / 1000 | PostgreSQL CPU ms / 1000 | RSS MiB | statements | round trips | Redis |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
  ];
  for (const { endpoint, rounds, costs } of measured) {
    for (const name of ['gateway', 'limit'] as const) {
      const valid = rounds.map((round) => round[name]).filter((figures) => figures.void === null);
      const of = (member: keyof Omit<Figures, 'void'>): number | null => median(valid.map((one) => one[member]));
      const { statements, roundTrips, redisCommands } = costs[name];
      const cells = [
        endpoint.name,
        name,
        shown(of('perSecond')),
        shown(of('p50Ms'), 2),
        shown(of('p99Ms'), 2),
        shown(of('cpuMs')),
        shown(of('postgresCpuMs')),
        shown(of('residentMiB')),
        shown(statements),
        shown(roundTrips),
        shown(redisCommands),
      ];
      lines.push(`| ${cells.join(' | ')} |`);
    }
  }
  return lines.join('\n');
}

function ratioTable(measured: readonly Measured[]): string {
  const lines = [
    '| gateway / limit | requests/s | min–max | goal | holds | p99 | min–max | holds | CPU time | min–max |',
    '|---|---|---|---|---|---|---|---|---|---|',
  ];
  for (const { endpoint, rounds } of measured) {
    const valid = rounds.filter(({ gateway, limit }) => gateway.void === null && limit.void === null);
    const rates = valid.map(({ gateway, limit }) => gateway.perSecond / limit.perSecond);
    const p99s = valid.map(({ gateway, limit }) => gateway.p99Ms / limit.p99Ms);
    const cpus = valid.flatMap(({ gateway, limit }) =>
      gateway.cpuMs !== null && limit.cpuMs ? [gateway.cpuMs / limit.cpuMs] : [],
    );
    const [rate, p99] = [median(rates), median(p99s)];
    const holds = (value: number | null, isMet: (value: number) => boolean): string => {
      if (endpoint.goal === null) return '';
      if (value === null) return 'void';
      return isMet(value) ? 'yes' : 'NO';
    };
    const cells = [
      endpoint.name,
      shown(rate, 2),
      range(rates),
      endpoint.goal === null ? '' : `≥ ${endpoint.goal.toFixed(2)}`,
      holds(rate, (value) => value >= (endpoint.goal ?? 0)),
      shown(p99, 2),
      range(p99s),
      holds(p99, (value) => value <= p99Goal),
      shown(median(cpus), 2),
      range(cpus),
    ];
    lines.push(`| ${cells.join(' | ')} |`);
  }
  return lines.join('\n');
}

function range(values: readonly number[]): string {
  return values.length === 0 ? '–' : `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`;
}

function voidLines(measured: readonly Measured[]): string {
  const lines = measured.flatMap(({ endpoint, rounds }) =>
    rounds.flatMap((round, i) =>
      (['gateway', 'limit'] as const).flatMap((name) =>
        round[name].void === null ? [] : [`void: ${endpoint.name}, ${name}, round ${i + 1}: ${round[name].void}`],
      ),
    ),
  );
  return lines.length === 0 ? '' : `\n\n${lines.join('\n')}`;
}
