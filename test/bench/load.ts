import { spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import autocannon from 'autocannon';
import type { Requests } from './endpoints.ts';

export interface LoadOptions {
  readonly generator: 'wrk' | 'autocannon';
  readonly connections: number;
  readonly seconds: number;
  /** For scripts. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Why the figures do not count; null when they do. */
  readonly void: string | null;
}

export const hasWrk = (): boolean => spawnSync('wrk', ['-v']).error === undefined;

/**
 * Sends requests of an endpoint as fast as they are answered, from a process or its own thread.
 */
export async function load(url: string, endpoint: Requests, options: LoadOptions): Promise<Load> {
  options.signal.throwIfAborted();
  return options.generator === 'wrk' ? loadWithWrk(url, endpoint, options) : loadWithAutocannon(url, endpoint, options);
}

/** https://github.com/wg/wrk/blob/master/SCRIPTING: status errors are answers of 400 and above. */
async function loadWithWrk(url: string, endpoint: Requests, options: LoadOptions): Promise<Load> {
  const { connections, seconds, folder, signal } = options;
  const script = join(folder, `${endpoint.id}.lua`);
  await writeFile(script, wrkScript(new URL(url).pathname, endpoint));
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url];
  const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'pipe'], signal });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  child.stderr.on('data', (data) => {
    output += data;
  });
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk said no figures:\n${output}`);
  const { requests, microseconds, p50, p99, refused, failed } = JSON.parse(line) as Record<string, number>;
  return {
    requests: requests ?? 0,
    perSecond: ((requests ?? 0) / (microseconds ?? 1)) * 1e6,
    p50Ms: (p50 ?? 0) / 1000,
    p99Ms: (p99 ?? 0) / 1000,
    void: whyVoid(requests ?? 0, refused ?? 0, failed ?? 0),
  };
}

const luaText = (text: string): string => `[==[${text}]==]`;

function wrkScript(root: string, { method, paths, headers, body, once }: Requests): string {
  const lines = [
    `wrk.method = "${method}"`,
    `wrk.path = ${luaText(`${root}${paths[0]}`)}`,
    ...(body === undefined ? [] : [`wrk.body = ${luaText(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[ ${luaText(name)} ] = ${luaText(value)}`),
  ];
  if (once) {
    lines.push(
      'local run, sent = tostring(os.time()) .. tostring({}):gsub("[^%w]", ""), 0',
      'function request()',
      '  sent = sent + 1',
      '  wrk.headers["Idempotency-Key"] = run .. "-" .. sent',
      '  return wrk.format()',
      'end',
    );
  } else if (paths.length > 1) {
    lines.push(
      `local paths = {${paths.map((path) => luaText(`${root}${path}`)).join()}}`,
      'local requests, sent = {}, 0',
      'function init()',
      '  for i, path in ipairs(paths) do requests[i] = wrk.format(nil, path) end',
      'end',
      'function request()',
      '  sent = sent % #requests + 1',
      '  return requests[sent]',
      'end',
    );
  }
  const figures = '{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"refused":%d,"failed":%d}';
  lines.push(
    'function done(summary, latency)',
    '  local errors = summary.errors',
    `  print("RESULT " .. string.format(${luaText(figures)},`,
    '    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,',
    '    errors.connect + errors.read + errors.write + errors.timeout))',
    'end',
  );
  return `${lines.join('\n')}\n`;
}

async function loadWithAutocannon(url: string, endpoint: Requests, options: LoadOptions): Promise<Load> {
  const { connections, seconds, signal } = options;
  const { method, paths, headers, body } = endpoint;
  const { pathname } = new URL(url);
  const running = autocannon({
    url,
    connections,
    duration: seconds,
    workers: 1,
    requests: paths.map((path) => ({
      method,
      path: `${pathname}${path}`,
      headers: { ...headers },
      ...(body === undefined ? {} : { body }),
    })),
  });
  const result = await running;
  signal.throwIfAborted();
  const refused = result['4xx'] + result['5xx'];
  return {
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    void: whyVoid(result.requests.total, refused, result.errors),
  };
}

function whyVoid(requests: number, refused: number, failed: number): string | null {
  if (requests === 0) return 'nothing was answered';
  return refused + failed > 0 ? `${refused} of ${requests} refused, ${failed} failed` : null;
}
