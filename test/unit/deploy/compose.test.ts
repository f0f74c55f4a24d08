import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { settings } from '../../../src/config/settings.ts';

interface Service {
  readonly image: string;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly privileged?: boolean;
  readonly security_opt?: readonly string[];
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] };
  readonly stop_grace_period?: string;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly network_mode?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly build?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly ipam?: { config: { subnet: string; ip_range: string }[] } }>>;
  readonly secrets: Readonly<Record<string, { readonly file?: string }>>;
}

const text = readFileSync('docker-compose.yml', 'utf8');
const { services, networks, secrets } = parse(text, { merge: true }) as Compose;
const dockerfile = readFileSync('Dockerfile', 'utf8');
const all = Object.entries(services);
const ours = all.filter(([, { image }]) => image === 'exchange-partner-gateway:local');

/** The services of which something does not hold. */
function without(holds: (service: Service) => boolean): string[] {
  return all.filter(([, service]) => !holds(service)).map(([name]) => name);
}

const networksOf = ({ networks: of = [] }: Service): string[] => (Array.isArray(of) ? [...of] : Object.keys(of));

describe('docker-compose.yml', () => {
  it('gives no container rights that it does not need', () => {
    expect(without((service) => service.read_only === true)).toEqual([]);
    expect(without(({ cap_drop: dropped, cap_add: added }) => dropped?.join() === 'ALL' && !added)).toEqual([]);
    expect(without(({ security_opt: options }) => options?.includes('no-new-privileges:true') ?? false)).toEqual([]);
    expect(without(({ privileged }) => privileged === undefined)).toEqual([]);
    expect(without(({ user }) => /^[1-9]\d*:[1-9]\d*$/.test(user ?? ''))).toEqual([]);
    expect(text).not.toContain('docker.sock');
  });

  it('publishes one port, the port of the proxy, and all others on loopback only', () => {
    const open = all.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
    expect(open.filter((port) => !/ 127\.0\.0\.1:\d+:\d+$/.test(port))).toEqual(['proxy 443:8443']);
  });

  it('gives the signer no network, and the database to its clients only', () => {
    expect(services.signer?.network_mode).toBe('none');
    const onData = all.filter(([, service]) => networksOf(service).includes('data')).map(([name]) => name);
    expect(onData.sort()).toEqual(['api-1', 'api-2', 'migrate', 'postgres', 'redis', 'worker-1', 'worker-2']);
    expect(networks.data).toEqual({ internal: true });
    for (const name of ['postgres', 'redis']) expect(networksOf(services[name] as Service)).toEqual(['data']);
  });

  it('gives the signer its own user, whose group lets gateways use the socket only', () => {
    const users = Object.fromEntries(ours.map(([name, { user }]) => [name, user?.split(':')]));
    const [signer, group] = users.signer ?? [];
    for (const [name, [user, of] = []] of Object.entries(users)) {
      if (name !== 'signer')
        expect({ name, isSigner: user === signer, of }).toEqual({ name, isSigner: false, of: group });
      expect(dockerfile).toContain(`useradd --uid ${user} --gid gateway`);
    }
    for (const [name, { volumes = [], secrets: given = [] }] of ours) {
      if (name === 'signer') continue;
      expect(volumes.filter((volume) => volume !== 'signer-socket:/run/gateway:ro')).toEqual([]);
      expect(given).not.toContain('signer-passphrase');
    }
  });

  it('trusts the fixed address of the proxy, which no other container can get', () => {
    const { networks: on } = services.proxy as Service;
    const address = Array.isArray(on)
      ? undefined
      : (on as Record<string, { ipv4_address?: string }>)?.edge?.ipv4_address;
    expect(services['api-1']?.environment?.TRUSTED_PROXIES).toBe(`${address}/32`);
    expect(networks.edge?.ipam?.config).toEqual([{ subnet: '172.31.240.0/24', ip_range: '172.31.240.128/25' }]);
    expect(address).toBe('172.31.240.2');
  });

  it('has a health check and time to stop for each service', () => {
    const withoutOwn = without(({ healthcheck }) => healthcheck !== undefined && !healthcheck.disable);
    // The gateway's image brings one; a migration ends by itself.
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    expect(withoutOwn.sort()).toEqual(['api-1', 'api-2', 'migrate', 'worker-1', 'worker-2']);
    expect(without(({ stop_grace_period: period }) => Number.parseInt(period ?? '0', 10) >= 30)).toEqual([]);
  });

  it('sets known settings only, and takes secrets from .env and files, without a default', () => {
    const names = ours.flatMap(([, { environment = {} }]) => Object.keys(environment));
    expect(names.filter((name) => !(name in settings))).toEqual([]);
    const secretNames = Object.entries(settings).filter(([, row]) => 'secret' in row);
    for (const [name] of secretNames) {
      for (const [, { environment = {} }] of ours) {
        const value = environment[name];
        if (value !== undefined)
          expect({ name, value }).toEqual({ name, value: expect.stringMatching(/\$\{\w+(:\?[^}]+|:-)\}/) });
      }
    }
    for (const name of ['GATEWAY_PASSWORD', 'REDIS_PASSWORD', 'KEY_PEPPER']) expect(text).toContain(`\${${name}:?`);
    for (const [name, { file }] of Object.entries(secrets)) expect(file).toBe(`./secrets/${name}`);
    expect(readFileSync('.gitignore', 'utf8').split('\n')).toEqual(expect.arrayContaining(['.env', 'secrets/']));
  });

  it('runs images of an exact version, and builds on the Node of package.json', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: { node: string } };
    const froms = [dockerfile, readFileSync('deploy/caddy/Dockerfile', 'utf8')].flatMap((file) =>
      [...file.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image),
    );
    const pulled = all.filter(([, { build }]) => build === undefined).map(([, { image }]) => image);
    expect([...froms, ...pulled].filter((image) => !/:v?\d+\.\d+(\.\d+)?(-[a-z-]+)?$/.test(image))).toEqual([]);
    expect(new Set(froms.filter((image) => image.startsWith('node:')))).toEqual(
      new Set([`node:${dependencies.node}-bookworm-slim`]),
    );
  });

  it('sends only built files to the builder', () => {
    expect(readFileSync('.dockerignore', 'utf8').trim().split('\n')).toEqual([
      '*',
      '!package.json',
      '!package-lock.json',
      '!client/package.json',
      '!tools/package.json',
      '!tools/build-web.js',
      '!web',
      'web/dist',
      'web/node_modules',
      '!tsconfig.json',
      '!src',
    ]);
  });

  it('lets Prometheus scrape every gateway process', () => {
    const { scrape_configs: jobs } = parse(readFileSync('deploy/prometheus/compose.yml', 'utf8')) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const targets = jobs.flatMap(({ static_configs: groups }) => groups.flatMap(({ targets: of }) => of));
    const listening = ours.map(([name]) => name).filter((name) => /^(api|worker)-/.test(name));
    expect(targets.sort()).toEqual(listening.map((name) => `${name}:8081`).sort());
  });
});
