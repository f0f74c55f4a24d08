import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly children?: readonly number[];
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  /** In µs of the machine's monotonic clock, which all its processes share. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The present moment of that clock. */
export const monotonicUs = (): number => Number(process.hrtime.bigint() / 1000n);

/**
 * Where the CPU time of a process went between two moments, as Markdown: by package and by
 * function, idle time left out.
 *
 * @param folder where the process left its one profile.
 */
export async function describeProfile(folder: string, fromUs: number, toUs: number, rows = 25): Promise<string> {
  const name = (await readdir(folder)).find((file) => file.endsWith('.cpuprofile'));
  if (name === undefined) throw new Error(`there is no profile in ${folder}`);
  const { nodes, startTime, samples, timeDeltas } = JSON.parse(
    await readFile(join(folder, name), 'utf8'),
  ) as CpuProfile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const packages = new Map<string, number>();
  const functions = new Map<string, number>();
  const add = (sums: Map<string, number>, key: string, us: number): void =>
    void sums.set(key, (sums.get(key) ?? 0) + us);
  let total = 0;
  let atUs = startTime;
  for (const [i, id] of samples.entries()) {
    const frame = frames.get(id);
    const us = timeDeltas[i] ?? 0;
    atUs += us;
    if (!frame || atUs < fromUs || atUs > toUs || /^\((idle|root)\)$/.test(frame.functionName)) continue;
    total += us;
    const place = placeOf(frame.url);
    add(packages, place.package, us);
    const line = frame.url === '' ? '' : ` ${place.file}:${frame.lineNumber + 1}`;
    add(functions, `${frame.functionName || '(anonymous)'}${line}`, us);
  }
  const table = (title: string, sums: Map<string, number>): string => {
    const top = [...sums].sort(([, a], [, b]) => b - a).slice(0, rows);
    const lines = top.map(([key, us]) => `| ${key} | ${((100 * us) / total).toFixed(1)} |`);
    return [`| ${title} | % of CPU time |`, '|---|---|', ...lines].join('\n');
  };
  return `${table('package', packages)}\n\n${table('function', functions)}\n`;
}

/**
 * The CPU time of each part of a program in µs, the longest first. A function without a part counts
 * for its nearest caller that has one, and 'other' where none has.
 */
export function cpuByPart(
  { nodes, samples, timeDeltas }: CpuProfile,
  partOf: (functionName: string, url: string) => string | null,
): [string, number][] {
  const parts = new Map<number, string>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  // Callers come before the functions that they call.
  for (const { id, callFrame, children = [] } of nodes) {
    const part = partOf(callFrame.functionName, callFrame.url) ?? parts.get(id) ?? 'other';
    parts.set(id, part);
    for (const child of children) parts.set(child, part);
  }
  const sums = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    if (/^\((idle|root|program)\)$/.test(byId.get(id)?.callFrame.functionName ?? '')) continue;
    const part = parts.get(id) ?? 'other';
    sums.set(part, (sums.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return [...sums].sort(([, one], [, other]) => other - one);
}

/** A file, short, and what it belongs to: a package, the gateway's own folder, Node or V8. */
function placeOf(url: string): { package: string; file: string } {
  if (url === '') return { package: 'V8 and native code', file: '' };
  if (url.startsWith('node:')) return { package: 'node', file: url };
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(.*)$/.exec(url);
  if (installed?.[1]) return { package: installed[1], file: `${installed[1]}/${installed[2]}` };
  const own = /\/(?:dist|src)\/(([^/]+).*)$/.exec(url);
  return own?.[1] ? { package: `gateway/${own[2]}`, file: own[1] } : { package: 'other', file: url };
}
