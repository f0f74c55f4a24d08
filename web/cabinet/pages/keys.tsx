import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Badge, Card, Empty, Time, type Tone } from '../../ui/parts.tsx';
import { type Answer, call, query, type Schemas } from '../api.ts';
import { scopes, usualScopes } from '../generated/key-scopes.ts';
import { keyMoves } from '../key-moves.ts';
import { networksOf } from '../network.ts';
import type { Secret } from '../secret.tsx';
import { Allowed, useMay } from '../session.tsx';
import { type Action, Actions, madeNow, overlapField } from '../shared.tsx';

type Key = Schemas['Key'];

/** The keys of the partner: make, roll, revoke. */
export function Keys(): ReactNode {
  const may = useMay();
  const keys = useQuery({ ...query('listKeys', {}), enabled: may('keys:read') });
  const live = keys.data?.data.filter(isLive).length ?? 0;
  const isFull = keys.data !== undefined && live >= keys.data.most_live_keys;
  return (
    <Allowed to="keys:read">
      <div className="page">
        <PageHead title="Keys" lead="Your programs authenticate with keys. Each is shown once, when it is made.">
          {keys.data && may('keys:write') && !isFull ? <Actions of={[makeKey(keys.data)]} /> : null}
          {isFull ? <span className="muted">No more live keys are possible. Revoke one first.</span> : null}
        </PageHead>
        <Loaded of={keys}>
          {(answer) => (
            <>
              <KeyList
                title={`Live keys, ${live} of at most ${answer.most_live_keys}`}
                keys={answer.data.filter(isLive)}
                empty={
                  <Empty icon="key" title="No live key">
                    <p>Make one, and your programs can create orders with it.</p>
                  </Empty>
                }
              />
              {answer.data.some((key) => !isLive(key)) ? (
                <KeyList title="Ended keys" keys={answer.data.filter((key) => !isLive(key))} empty={null} />
              ) : null}
            </>
          )}
        </Loaded>
      </div>
    </Allowed>
  );
}

function isLive({ state }: Key): boolean {
  return state === 'live' || state === 'expires';
}

const states: Readonly<Record<Key['state'], readonly [Tone, string]>> = {
  live: ['good', 'Live'],
  expires: ['warn', 'Ends soon'],
  expired: ['idle', 'Ended'],
  revoked: ['idle', 'Revoked'],
};

function KeyList({ title, keys, empty }: { title: string; keys: readonly Key[]; empty: ReactNode }): ReactNode {
  return (
    <Card title={title} flush>
      {keys.length === 0 ? empty : null}
      <ul className="items">
        {keys.map((key) => (
          <KeyRow key={key.key_id} of={key} />
        ))}
      </ul>
    </Card>
  );
}

function KeyRow({ of: key }: { of: Key }): ReactNode {
  const may = useMay();
  const [tone, text] = states[key.state];
  return (
    <li className={`item ${isLive(key) ? '' : 'ended'}`}>
      <header>
        <div>
          <h3 className="item-title">{key.label || 'Without a label'}</h3>
          <code className="muted small">
            {key.key_id} …{key.last4}
          </code>
        </div>
        <Badge tone={tone}>{text}</Badge>
        {isLive(key) && may('keys:write') ? <Actions of={[rollKey(key), revokeKey(key)]} small /> : null}
      </header>
      <dl className="columns">
        <div>
          <dt>Scopes</dt>
          <dd className="tags">
            {key.scopes.map((scope) => (
              <span key={scope} className="tag" title={scopes[scope]}>
                {scope}
              </span>
            ))}
          </dd>
        </div>
        <div>
          <dt>IP addresses</dt>
          <dd>
            {key.networks.length === 0 ? (
              <span className={isLive(key) ? 'warn-text' : ''}>Every IP address</span>
            ) : null}
            <span className="tags">
              {key.networks.map((network) => (
                <span key={network} className="tag">
                  {network}
                </span>
              ))}
            </span>{' '}
            {isLive(key) && may('keys:write') ? <Link to="/ip-addresses">Change</Link> : null}
          </dd>
        </div>
        <div>
          <dt>Last used</dt>
          <dd>{key.last_used_at ? <Ago at={key.last_used_at} /> : 'Never'}</dd>
        </div>
        <div>
          <dt>Made</dt>
          <dd>
            <Ago at={key.created_at} />
          </dd>
        </div>
        {key.expires_at ? (
          <div>
            <dt>{isLive(key) ? 'Ends' : 'Ended'}</dt>
            <dd>
              <Time at={key.expires_at} />
            </dd>
          </div>
        ) : null}
      </dl>
    </li>
  );
}

function secretOf(answer: Answer<'issueKey'>, title: string, about: string): Secret {
  return { title, about, label: 'key', text: madeNow(answer.secret, `the key ${answer.key.key_id}`) };
}

function makeKey({ scopes: known, your_address }: Answer<'listKeys'>): Action {
  return {
    name: 'Make a key',
    icon: 'plus',
    title: 'Make a key',
    about: 'For one program of yours, with no more rights than it needs.',
    isPrimary: true,
    needsPasskey: true,
    fields: [
      {
        name: 'label',
        label: 'Label',
        hint: 'Which program it is for: checkout, back office.',
        placeholder: 'checkout',
      },
      {
        name: 'scopes',
        label: 'Scopes',
        kind: 'set',
        initial: known.filter((scope) => usualScopes.includes(scope)).join(','),
        choices: known.map((scope) => [scope, scope, scopes[scope] ?? ''] as const),
      },
      {
        name: 'networks',
        label: 'Allowed IP addresses',
        kind: 'long',
        isOptional: true,
        placeholder: '203.0.113.0/24',
        hint: `One a line: an address, or a range in CIDR notation. Without any, every address may use the key. Your own address is ${your_address}.`,
      },
      {
        name: 'expires_at',
        label: 'Ends',
        kind: 'choice',
        initial: '',
        isOptional: true,
        choices: [
          ['', 'Never'],
          ['30', 'After 30 days'],
          ['90', 'After 90 days'],
          ['365', 'After a year'],
        ],
      },
    ],
    run: async ({ label = '', scopes: chosen = '', networks = '', expires_at: days = '' }, idempotencyKey) =>
      secretOf(
        await call('issueKey', {
          idempotencyKey,
          body: {
            label: label.trim(),
            scopes: chosen.split(',').filter(Boolean),
            networks: networksOf(networks),
            ...(days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }),
          },
        }),
        'Your new key',
        'Your program sends it in the header of each request: Authorization: Bearer, a space, the key.',
      ),
  };
}

function rollKey(key: Key): Action {
  return {
    name: 'Roll',
    icon: 'refresh',
    title: `Roll ${key.label}`,
    about: 'Makes a key with the same label, scopes and IP addresses. The old one ends at a time that you choose.',
    needsPasskey: true,
    fields: [overlapField('old_key_hours')],
    run: async ({ old_key_hours: hours = '24' }, idempotencyKey) =>
      secretOf(
        await call('rollKey', {
          path: { key_id: key.key_id },
          body: { old_key_hours: Number(hours) },
          idempotencyKey,
        }),
        'The new key',
        keyMoves(Number(hours)),
      ),
  };
}

function revokeKey(key: Key): Action {
  return {
    name: 'Revoke',
    icon: 'trash',
    title: `Revoke ${key.label}`,
    about: 'The key ends at once. Requests with it are refused, and it cannot be brought back.',
    isDangerous: true,
    run: async () => {
      await call('revokeKey', { path: { key_id: key.key_id } });
      return null;
    },
  };
}
