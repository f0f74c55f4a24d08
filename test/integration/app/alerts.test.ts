import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { freePort } from '../../support/http/local-server.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

const rulesFile = resolve('deploy/prometheus/alerts.yml');
const run = promisify(execFile);
let gateway: SettledGateway;
let rules: { readonly alert: string; readonly expr: string }[];
/** What the panels of the dashboard ask; Grafana fills in the interval. */
let asked: string[];

beforeAll(async () => {
  gateway = await startSettledGateway();
  await gateway.reconciliations().runIfDue();
  const { groups } = parse(await readFile(rulesFile, 'utf8')) as Rules;
  rules = groups.flatMap((group) => group.rules);
  const { panels } = JSON.parse(await readFile('deploy/grafana/dashboard.json', 'utf8')) as Dashboard;
  asked = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')));
});
afterAll(async () => {
  await gateway?.stop();
});

describe('alert rules and dashboard', () => {
  it('name metrics that the gateway has', async () => {
    const text = await (await fetch(`${gateway.app.internalUrl}/metrics`)).text();
    const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
    const exprs = [...rules.map(({ expr }) => expr), ...asked];
    const used = exprs.flatMap((expr) =>
      [...expr.matchAll(/\b(?:gateway|http|nodejs|process)_\w+/g)].map(([name]) => name),
    );
    expect(used.length).toBeGreaterThan(exprs.length - 2);
    expect(used.filter((name) => !known.has(name.replace(/_(?:bucket|count|sum)$/, '')))).toEqual([]);
  });

  it('have a section for each alert in the runbook, and the runbook has no other', async () => {
    const runbook = await readFile('docs/runbook.md', 'utf8');
    const sections = [...runbook.matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(rules.map(({ alert }) => alert));
  });
});

const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;
if (!hasPrometheus && process.env.CI_PROMETHEUS === 'required')
  throw new Error('CI has a prometheus, and it does not run');
// Skipped on a machine without prometheus.
const describeWithPrometheus = hasPrometheus ? describe : describe.skip;

describeWithPrometheus('a real Prometheus', () => {
  let folder: string;
  let prometheus: ChildProcess | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-prometheus-'));
  });
  afterAll(async () => {
    if (prometheus) {
      const ended = new Promise((resolve) => prometheus?.once('close', resolve));
      prometheus.kill('SIGKILL');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('accepts the files that are shipped', async () => {
    const { stdout } = await run('promtool', ['check', 'config', resolve('deploy/prometheus/prometheus.yml')]);
    expect(stdout).toContain(`${rules.length} rules found`);
  });

  it('scrapes the gateway, and tells of an order that is overdue and a withdrawal that is none of ours', async () => {
    const port = await freePort();
    const target = new URL(gateway.app.internalUrl).host;
    const config = (await readFile('deploy/prometheus/prometheus.yml', 'utf8'))
      .replaceAll('15s', '1s')
      .replace('127.0.0.1:8081', target);
    await writeFile(join(folder, 'prometheus.yml'), config);
    await writeFile(join(folder, 'alerts.yml'), await readFile(rulesFile, 'utf8'));
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    const states = async (): Promise<Record<string, string>> => {
      try {
        const reply = await fetch(`http://127.0.0.1:${port}/api/v1/rules`);
        const { data } = (await reply.json()) as {
          data: { groups: { rules: { name: string; state: string; health: string }[] }[] };
        };
        const found = data.groups.flatMap((group) => group.rules);
        return Object.fromEntries(found.map(({ name, state, health }) => [name, health === 'ok' ? state : health]));
      } catch {
        return {};
      }
    };
    const until = async (isThere: (found: Record<string, string>) => boolean): Promise<Record<string, string>> => {
      for (let i = 0; i < 300; i++) {
        const found = await states();
        if (isThere(found)) return found;
        await sleep(200);
      }
      throw new Error(`Prometheus says ${JSON.stringify(await states())}`);
    };
    const quiet = await until(
      (found) => Object.values(found).filter((state) => state !== 'unknown').length === rules.length,
    );
    expect(quiet.GatewayDown).toBe('inactive');
    expect(quiet.GatewayOrdersOverdue).toBe('inactive');
    expect(quiet.GatewayForeignWithdrawal).toBe('inactive');
    expect(Object.values(quiet)).not.toContain('err');

    for (const query of asked) {
      const reply = await fetch(`http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query })}`);
      expect({ query, status: reply.status }).toEqual({ query, status: 200 });
    }

    await gateway.query(
      `with watched as (
         insert into venue_account (venue, is_watched, watched_from) values ('kraken', false, now()) returning venue)
       insert into venue_movement (venue, kind, reference, coin, is_internal, amount, fee, state, told, at, seen_at,
                                   changed_at, read_at, part)
       select venue, 'withdrawal', 'W1', 'BTC', false, 1, 0, 'pending', 'Pending', now(), now(), now(), now(), 'foreign'
         from watched`,
    );
    expect(
      (await until(({ GatewayForeignWithdrawal }) => GatewayForeignWithdrawal !== 'inactive')).GatewayForeignWithdrawal,
    ).toBe('firing');
    await gateway.order();
    gateway.clock.advance(3_600_000);
    expect((await until(({ GatewayOrdersOverdue }) => GatewayOrdersOverdue !== 'inactive')).GatewayOrdersOverdue).toBe(
      'pending',
    );
  });
});
