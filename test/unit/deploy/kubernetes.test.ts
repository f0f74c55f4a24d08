import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { settings } from '../../../src/config/settings.ts';

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
  readonly exec?: { readonly command: readonly string[] };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

interface Container {
  readonly name: string;
  readonly env?: readonly Variable[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly resources?: { readonly requests?: object; readonly limits?: { readonly memory?: string } };
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly readOnly?: boolean }[];
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly privileged?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
}

interface Pod {
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly seccompProfile?: { readonly type: string };
  };
  readonly containers: readonly Container[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly hostPath?: object;
    readonly secret?: { items: { key: string }[] };
  }[];
}

type Labels = Readonly<Record<string, string>>;

interface Peer {
  readonly namespaceSelector?: { readonly matchLabels?: Labels };
  readonly podSelector?: object;
  readonly ipBlock?: { readonly cidr: string };
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: string | number }[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels };
  readonly data?: Labels;
  readonly spec: {
    readonly replicas?: number;
    readonly strategy?: { readonly rollingUpdate?: { readonly maxUnavailable?: number } };
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly podSelector?: { readonly matchLabels?: Labels };
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
    readonly ports?: readonly { readonly targetPort: string }[];
    readonly accessModes?: readonly string[];
  };
}

const root = 'deploy/kubernetes';
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'));
const manifests = files
  .filter((path) => basename(path) !== 'kustomization.yaml')
  .flatMap((path) =>
    parseAllDocuments(readFileSync(join(root, path), 'utf8'), { merge: true }).map((document) => {
      if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0]?.message}`);
      return document.toJS() as Manifest;
    }),
  );
const of = (kind: string): Manifest[] => manifests.filter((manifest) => manifest.kind === kind);
const workloads = manifests.flatMap(({ kind, metadata: { name }, spec }) =>
  spec?.template ? [{ kind, name, labels: spec.template.metadata.labels, pod: spec.template.spec, spec }] : [],
);
const running = workloads.filter(({ kind }) => kind !== 'Job');
const containers = workloads.flatMap(({ kind, name, pod }) =>
  pod.containers.map((container) => ({ ...container, kind, in: name, pod })),
);

function selects(selector: Labels = {}, labels: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

/** Names of what does not hold. */
function without<T extends { readonly name: string }>(all: readonly T[], holds: (one: T) => boolean): string[] {
  return all.filter((one) => !holds(one)).map(({ name }) => name);
}

describe('the manifests for Kubernetes', () => {
  it('have the workloads of a gateway', () => {
    expect(workloads.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
      'Deployment api',
      'Job migrate',
      'Job signer-init',
      'StatefulSet settlement',
    ]);
    expect(of('Deployment')[0]?.spec).toMatchObject({
      replicas: 2,
      strategy: { rollingUpdate: { maxUnavailable: 0 } },
    });
    expect(of('StatefulSet')[0]?.spec.replicas).toBe(1);
    expect(of('PersistentVolumeClaim')[0]?.spec.accessModes).toEqual(['ReadWriteOncePod']);
  });

  it('run everything under the restricted standard, on a read-only file system', () => {
    expect(of('Namespace')[0]?.metadata.labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted');
    const pods = workloads.map(({ name, pod }) => ({ name, ...pod }));
    expect(without(pods, ({ securityContext: context }) => context?.runAsNonRoot === true)).toEqual([]);
    expect(without(pods, ({ securityContext: context }) => context?.seccompProfile?.type === 'RuntimeDefault')).toEqual(
      [],
    );
    expect(without(pods, (pod) => pod.automountServiceAccountToken === false)).toEqual([]);
    expect(without(pods, (pod) => !pod.hostNetwork && !pod.hostPID)).toEqual([]);
    expect(without(pods, ({ volumes = [] }) => volumes.every(({ hostPath }) => !hostPath))).toEqual([]);
    expect(without(containers, ({ securityContext: own }) => own?.allowPrivilegeEscalation === false)).toEqual([]);
    expect(without(containers, ({ securityContext: own }) => own?.readOnlyRootFilesystem === true)).toEqual([]);
    expect(without(containers, ({ securityContext: own }) => !own?.privileged && !own?.capabilities?.add)).toEqual([]);
    expect(without(containers, ({ securityContext: own }) => own?.capabilities?.drop?.join() === 'ALL')).toEqual([]);
    const userOf = ({ securityContext, pod }: (typeof containers)[number]): number =>
      securityContext?.runAsUser ?? pod.securityContext?.runAsUser ?? 0;
    expect(without(containers, (container) => userOf(container) > 1000)).toEqual([]);
    // As in the image: the signer is another user than its gateways.
    expect(containers.filter((container) => userOf(container) === 10002).map(({ name }) => name)).toEqual([
      'signer',
      'signer-init',
    ]);
  });

  it('have probes and resource limits for each container', () => {
    const lasting = containers.filter(({ kind }) => kind !== 'Job');
    expect(
      without(lasting, ({ startupProbe, readinessProbe, livenessProbe }) =>
        Boolean(startupProbe && readinessProbe && livenessProbe),
      ),
    ).toEqual([]);
    const gateways = lasting.filter(({ name }) => name !== 'signer');
    expect(without(gateways, ({ readinessProbe }) => readinessProbe?.httpGet?.path === '/readyz')).toEqual([]);
    expect(without(gateways, ({ livenessProbe }) => livenessProbe?.httpGet?.path === '/livez')).toEqual([]);
    for (const { name, readinessProbe, livenessProbe, ports = [] } of gateways) {
      const internal = ports.find((port) => port.name.startsWith('internal'));
      for (const probe of [readinessProbe, livenessProbe]) {
        expect({ name, port: [internal?.name, internal?.containerPort].includes(probe?.httpGet?.port) }).toEqual({
          name,
          port: true,
        });
      }
    }
    expect(without(containers, ({ resources }) => Boolean(resources?.requests && resources.limits?.memory))).toEqual(
      [],
    );
    expect(
      without(
        running.map(({ name, pod }) => ({ name, ...pod })),
        (pod) => pod.terminationGracePeriodSeconds === 30,
      ),
    ).toEqual([]);
  });

  it('have a disruption budget for each workload, and a network policy for every pod', () => {
    const budgets = of('PodDisruptionBudget');
    expect(
      without(running, ({ labels }) => budgets.some(({ spec }) => selects(spec.selector?.matchLabels, labels))),
    ).toEqual([]);
    const policies = of('NetworkPolicy');
    expect(policies.find(({ metadata }) => metadata.name === 'default-deny')?.spec).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    });
    const own = policies.filter(({ spec }) => Object.keys(spec.podSelector?.matchLabels ?? {}).length > 0);
    const inBase = workloads.filter(({ name }) => name !== 'signer-init');
    // The seed is made without a network.
    expect(
      without(inBase, ({ labels }) => own.some(({ spec }) => selects(spec.podSelector?.matchLabels, labels))),
    ).toEqual([]);
    for (const { metadata, spec } of own) {
      for (const { from, to, ports } of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
        expect({ in: metadata.name, peers: (from ?? to ?? []).length > 0 }).toEqual({ in: metadata.name, peers: true });
        const isChainNode = to?.some(
          ({ namespaceSelector }) => namespaceSelector?.matchLabels?.['exchange-gateway/nodes'],
        );
        if (!isChainNode)
          expect({ in: metadata.name, ports: (ports ?? []).length > 0 }).toEqual({ in: metadata.name, ports: true });
      }
    }
  });

  it('let the ingress reach the public port only, and only staff and monitoring the internal one', () => {
    const api = of('NetworkPolicy').find(({ metadata }) => metadata.name === 'api');
    const rules = (api?.spec.ingress ?? []).map(({ from = [], ports = [] }) => [
      from.map(({ namespaceSelector }) => Object.keys(namespaceSelector?.matchLabels ?? {}).join()),
      ports.map(({ port }) => port),
    ]);
    expect(rules).toEqual([
      [['exchange-gateway/ingress'], ['public']],
      [['exchange-gateway/monitoring', 'exchange-gateway/staff'], ['internal']],
    ]);
    const ports = Object.fromEntries(
      of('Service').map(({ metadata, spec }) => [metadata.name, spec.ports?.map(({ targetPort }) => targetPort)]),
    );
    expect(ports).toEqual({ api: ['public'], 'api-internal': ['internal'], settlement: ['internal-1', 'internal-2'] });
    expect(JSON.stringify(of('Ingress'))).not.toContain('api-internal');
    for (const { metadata, spec } of of('Service')) {
      const found = running.filter(({ labels }) => selects(spec.selector, labels)).flatMap(({ pod }) => pod.containers);
      const named = found.flatMap(({ ports: open = [] }) => open.map(({ name }) => name));
      expect({
        of: metadata.name,
        missing: spec.ports?.filter(({ targetPort }) => !named.includes(targetPort)),
      }).toEqual({ of: metadata.name, missing: [] });
    }
  });

  it('set known settings, and secret ones from secrets only', () => {
    const plain = of('ConfigMap').flatMap(({ data = {} }) => Object.keys(data));
    const variables = containers.flatMap(({ env = [] }) => env);
    const names = [...plain, ...variables.map(({ name }) => name)];
    expect(names.filter((name) => !(name in settings))).toEqual([]);
    const secret = new Set(Object.entries(settings).flatMap(([name, row]) => ('secret' in row ? [name] : [])));
    expect(plain.filter((name) => secret.has(name))).toEqual([]);
    expect(variables.filter(({ name, valueFrom }) => secret.has(name) && !valueFrom?.secretKeyRef)).toEqual([]);
    expect(of('Secret')).toEqual([]);
  });

  it('mount the passphrase in the signer only, and its socket in workers for use', () => {
    for (const { name, pod, volumeMounts = [] } of containers) {
      const mounted = (pod.volumes ?? []).filter((volume) => volumeMounts.some((mount) => mount.name === volume.name));
      const sees = mounted.some(({ secret }) => secret?.items.some(({ key }) => key === 'passphrase'));
      expect({ name, sees }).toEqual({ name, sees: name.startsWith('signer') });
      const socket = volumeMounts.find((mount) => mount.name === 'socket');
      if (socket) expect({ name, readOnly: socket.readOnly === true }).toEqual({ name, readOnly: name !== 'signer' });
    }
  });

  it('list every file beside a kustomization in it', () => {
    for (const path of files.filter((file) => basename(file) === 'kustomization.yaml')) {
      const { resources, patches = [] } = parse(readFileSync(join(root, path), 'utf8')) as {
        resources: string[];
        patches?: { path: string }[];
      };
      const beside = files
        .filter((file) => dirname(file) === dirname(path) && file !== path)
        .map((file) => basename(file));
      const listed = [...resources.filter((name) => !name.startsWith('../')), ...patches.map(({ path: of }) => of)];
      expect(listed.sort()).toEqual(beside.sort());
    }
  });

  const hasKubectl = spawnSync('kubectl', ['kustomize', '--help']).status === 0;
  const itWithKubectl = hasKubectl ? it : it.skip; // no kubectl on this machine

  itWithKubectl('are built by kubectl, with an image of an exact version in every container', () => {
    const built = execFileSync('kubectl', ['kustomize', `${root}/overlays/example`], { encoding: 'utf8' });
    const images = [...built.matchAll(/^\s+(?:- )?image: (.+)$/gm)].map(([, image]) => image);
    expect(images).toEqual(Array.from({ length: 5 }, () => 'registry.example.com/exchange-partner-gateway:0.1.0'));
    expect(built).toContain('TRUSTED_PROXIES: 10.244.7.0/28');
  });
});
