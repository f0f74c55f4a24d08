import type { Endpoint, Requests } from './endpoints.ts';
import { type LoadOptions, load } from './load.ts';
import type { Figures, Round } from './report.ts';
import type { Server } from './servers.ts';
import { cpuMs, postgresCpuMs, residentMiB } from './usage.ts';

export const warmUpSeconds = 2;

export interface TurnOptions extends LoadOptions {
  readonly rounds: number;
  /** Whose PostgreSQL's CPU time is counted. */
  readonly dataDir: string;
  readonly beforeEach: () => Promise<void>;
  readonly say: (line: string) => void;
}

/** Measures both servers in turns, the first one of a round changing, after both have warmed up. */
export async function takeTurns(
  gateway: Server,
  limit: Server,
  endpoint: Endpoint,
  options: TurnOptions,
): Promise<Round[]> {
  const { rounds, beforeEach, say } = options;
  for (const server of [gateway, limit]) await measure(server, endpoint, { ...options, seconds: warmUpSeconds });
  const turn = async (server: Server): Promise<Figures> => {
    await beforeEach();
    const figures = await measure(server, endpoint, options);
    say(`  ${server.name} ${figures.void ?? `${Math.round(figures.perSecond)}/s, p99 ${figures.p99Ms.toFixed(1)} ms`}`);
    return figures;
  };
  const taken: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) taken.push({ gateway: await turn(gateway), limit: await turn(limit) });
    else taken.push({ limit: await turn(limit), gateway: await turn(gateway) });
  }
  return taken;
}

/** Measures one server once. */
export async function measure(
  server: Server,
  endpoint: Requests,
  options: LoadOptions & Pick<TurnOptions, 'dataDir'>,
): Promise<Figures> {
  const usage = async () => ({ server: await cpuMs(server.pid), postgres: await postgresCpuMs(options.dataDir) });
  const before = await usage();
  const loaded = await load(server.url, endpoint, options);
  const after = await usage();
  const perThousand = (from: number | null, to: number | null): number | null =>
    from === null || to === null ? null : ((to - from) * 1000) / Math.max(1, loaded.requests);
  return {
    ...loaded,
    cpuMs: perThousand(before.server, after.server),
    postgresCpuMs: perThousand(before.postgres, after.postgres),
    residentMiB: await residentMiB(server.pid),
  };
}
