import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { phrase, words } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageButtons, PageHead } from '../../ui/page.tsx';
import {
  Ago,
  Badge,
  Card,
  Copy,
  Empty,
  Meter,
  Notice,
  Segments,
  Table,
  TextBlock,
  Time,
  type Tone,
} from '../../ui/parts.tsx';
import { type Asked, call, type PartnerSchemas, query } from '../api.ts';
import { actionFaults } from '../faults.ts';
import { eventTypes } from '../generated/event-types.ts';
import { keyMoves } from '../key-moves.ts';
import { Allowed, useMay } from '../session.tsx';
import { type Action, Actions, overlapField } from '../shared.tsx';
import './webhooks.css';

type Endpoint = PartnerSchemas['WebhookEndpoint'];
type Delivery = PartnerSchemas['WebhookDelivery'];
type EventType = PartnerSchemas['WebhookEventType'];

/** The webhook endpoints of the partner, each with its deliveries. */
export function Webhooks(): ReactNode {
  const may = useMay();
  const webhooks = useQuery({
    ...query('listWebhookEndpoints', {}),
    refetchInterval: 15_000,
    enabled: may('webhooks:read'),
  });
  return (
    <Allowed to="webhooks:read">
      <div className="page">
        <PageHead title="Webhooks" lead="Each change of an order is sent to your endpoints, signed.">
          {webhooks.data && may('webhooks:write') ? <Actions of={[addEndpoint()]} /> : null}
        </PageHead>
        <Loaded of={webhooks}>
          {({ data }) =>
            data.length === 0 ? (
              <Card title="Endpoints">
                <Empty icon="webhook" title="No endpoint yet">
                  <p>Add a URL of yours. Each delivery, with its answer and time, would be here.</p>
                </Empty>
              </Card>
            ) : (
              data.map((endpoint) => <EndpointCard key={endpoint.id} of={endpoint} />)
            )
          }
        </Loaded>
      </div>
    </Allowed>
  );
}

function typesOf(text: string): EventType[] | null {
  const chosen = text.split(',');
  const types = eventTypes.filter((type) => chosen.includes(type));
  return types.length === 0 || types.length === eventTypes.length ? null : types;
}

function fieldsOf(endpoint?: Endpoint): NonNullable<Action['fields']> {
  return [
    {
      name: 'url',
      label: 'URL',
      initial: endpoint?.url ?? '',
      placeholder: 'https://shop.example/exchange-events',
      hint: 'https, port 443, a public host name.',
    },
    {
      name: 'types',
      label: 'Events',
      kind: 'set',
      hint: 'All, also later types, when none or every one is chosen.',
      initial: (endpoint?.types ?? []).join(','),
      choices: eventTypes.map((type) => [type, type] as const),
    },
  ];
}

function addEndpoint(): Action {
  return {
    name: 'Add an endpoint',
    icon: 'plus',
    title: 'Add an endpoint',
    about: 'Events are sent here by POST. Verify their signature with the secret that is shown next.',
    isPrimary: true,
    needsPasskey: true,
    fields: fieldsOf(),
    run: async ({ url = '', types: chosen = '' }, idempotencyKey) => {
      const body = { url: url.trim(), types: typesOf(chosen) };
      const { secret } = await call('createWebhookEndpoint', { body, idempotencyKey });
      return {
        title: 'The signing secret',
        about: 'Your endpoint verifies the webhook-signature header of each delivery with it.',
        label: 'secret',
        text: secret,
      };
    },
  };
}

function actionsOf(endpoint: Endpoint): readonly Action[] {
  const path = { endpoint_id: endpoint.id };
  const isEnabled = endpoint.status === 'enabled';
  return [
    {
      name: 'Change',
      title: 'Change the endpoint',
      about: 'Deliveries that wait go to the new URL.',
      needsPasskey: true,
      fields: fieldsOf(endpoint),
      run: async ({ url = '', types: chosen = '' }) => {
        await call('updateWebhookEndpoint', { path, body: { url: url.trim(), types: typesOf(chosen) } });
        return null;
      },
    },
    {
      name: 'New secret',
      icon: 'refresh',
      title: 'Make a new signing secret',
      about: 'Until the old secret ends, each delivery carries two signatures. A receiver may check either.',
      needsPasskey: true,
      fields: [overlapField('old_secret_hours')],
      run: async ({ old_secret_hours: hours = '24' }, idempotencyKey) => {
        const body = { old_secret_hours: Number(hours) };
        const { secret } = await call('rotateWebhookSecret', { path, body, idempotencyKey });
        return { title: 'The new signing secret', about: keyMoves(Number(hours)), label: 'secret', text: secret };
      },
    },
    {
      name: isEnabled ? 'Switch off' : 'Switch on',
      icon: isEnabled ? 'pause' : 'play',
      title: isEnabled ? 'Switch the endpoint off' : 'Switch the endpoint on',
      about: isEnabled
        ? 'It gets no more events until you switch it on. Replay sends what it missed.'
        : 'Events are sent again from now on. Replay sends what it missed.',
      needsPasskey: true,
      isDangerous: isEnabled,
      run: async () => {
        await call('updateWebhookEndpoint', { path, body: { status: isEnabled ? 'disabled' : 'enabled' } });
        return null;
      },
    },
    {
      name: 'Remove',
      icon: 'trash',
      title: 'Remove the endpoint',
      about: 'Its deliveries and its secret end with it.',
      isDangerous: true,
      needsPasskey: true,
      run: async () => {
        await call('deleteWebhookEndpoint', { path });
        return null;
      },
    },
  ];
}

function healthOf({ status, failures, last_success_at }: Endpoint): readonly [Tone, string] {
  if (status === 'disabled') return ['bad', 'Switched off'];
  if (failures > 0) return ['warn', failures === 1 ? 'One failure' : `${failures} failures in a row`];
  return last_success_at === null ? ['idle', 'Nothing sent yet'] : ['good', 'Healthy'];
}

function EndpointCard({ of: endpoint }: { of: Endpoint }): ReactNode {
  const may = useMay();
  const [tone, text] = healthOf(endpoint);
  return (
    <Card
      flush
      title={<span className="mono wrap">{endpoint.url}</span>}
      tools={<Badge tone={tone}>{text}</Badge>}
      className="endpoint"
    >
      <div className="item">
        {endpoint.disabled_reason ? (
          <Notice tone="bad">Switched off: {phrase(endpoint.disabled_reason)}.</Notice>
        ) : null}
        <dl className="columns">
          <div>
            <dt>Events</dt>
            <dd className="tags">
              {(endpoint.types ?? ['all']).map((type) => (
                <span key={type} className="tag">
                  {type}
                </span>
              ))}
            </dd>
          </div>
          <div>
            <dt>Last success</dt>
            <dd>{endpoint.last_success_at ? <Ago at={endpoint.last_success_at} /> : 'None yet'}</dd>
          </div>
          <div>
            <dt>Last failure</dt>
            <dd>{endpoint.last_failure_at ? <Ago at={endpoint.last_failure_at} /> : 'None'}</dd>
          </div>
          {endpoint.old_secret_until ? (
            <div>
              <dt>Old secret ends</dt>
              <dd>
                <Ago at={endpoint.old_secret_until} />
              </dd>
            </div>
          ) : null}
        </dl>
        {may('webhooks:write') ? (
          <div className="row tight">
            {endpoint.status === 'enabled' ? <TestButton id={endpoint.id} /> : null}
            <Actions of={actionsOf(endpoint)} small />
          </div>
        ) : null}
      </div>
      <Deliveries of={endpoint} />
    </Card>
  );
}

/** What came of a request, and whether that is good. */
type Said = readonly [text: string, isGood: boolean];

interface Run {
  readonly note: ReactNode;
  readonly isBusy: boolean;
  /** @param meanwhile what is said until the task ends. */
  readonly run: (task: () => Promise<Said>, meanwhile?: string) => Promise<void>;
}

/** Runs a request of a button, and says what came of it. */
function useRun(): Run {
  const client = useQueryClient();
  const [note, setNote] = useState<ReactNode>(null);
  const [isBusy, setBusy] = useState(false);
  const run: Run['run'] = async (task, meanwhile = '') => {
    setBusy(true);
    setNote(meanwhile);
    try {
      const [text, isGood] = await task();
      setNote(<span className={isGood ? 'good-text' : 'bad-text'}>{text}</span>);
      void client.invalidateQueries();
    } catch (error) {
      setNote(<span className="bad-text">{actionFaults(error).whole}</span>);
    } finally {
      setBusy(false);
    }
  };
  return { note, isBusy, run };
}

const isOnItsWay = 'The test event is on its way; its result appears below.';
const testWords = {
  pending: isOnItsWay,
  delivered: 'Your endpoint accepted the test event.',
  failed: 'Your endpoint did not accept the test event; see below.',
} as const;

function TestButton({ id }: { id: string }): ReactNode {
  const { note, isBusy, run } = useRun();
  return (
    <>
      <button
        type="button"
        className="button small"
        disabled={isBusy}
        onClick={() =>
          run(async () => {
            const { state } = await call('testWebhookEndpoint', { path: { endpoint_id: id } });
            return [testWords[state], state !== 'failed'];
          }, isOnItsWay)
        }
      >
        <Icon name="play" /> Send a test event
      </button>
      <span role="status" className="small">
        {note}
      </span>
    </>
  );
}

const states = [
  ['', 'All'],
  ['delivered', 'Delivered'],
  ['pending', 'Waiting'],
  ['failed', 'Failed'],
] as const;

function Deliveries({ of: endpoint }: { of: Endpoint }): ReactNode {
  const [state, setState] = useState<(typeof states)[number][0]>('');
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const asked: Asked<'listWebhookDeliveries'> = {
    path: { endpoint_id: endpoint.id },
    query: { limit: 10, ...(state === '' ? {} : { state }), ...(cursor === undefined ? {} : { cursor }) },
  };
  const deliveries = useQuery({
    ...query('listWebhookDeliveries', asked),
    placeholderData: keepPreviousData,
    refetchInterval: cursor === undefined ? 5_000 : false,
  });
  const replay = useRun();
  return (
    <>
      <div className="sub-head">
        <h3>Deliveries</h3>
        <span role="status" className="small">
          {replay.note}
        </span>
        <Segments
          label="Show deliveries"
          value={state}
          choices={states}
          onChange={(next) => {
            setCursors([]);
            setState(next);
          }}
        />
      </div>
      <Loaded of={deliveries} lines={4}>
        {({ data, next_cursor: next }) => (
          <>
            {data.length === 0 ? (
              <Empty icon="webhook" title={state === '' ? 'Nothing was sent yet' : 'No delivery of this kind'}>
                <p>Each event that is sent here is listed with the answer of your endpoint.</p>
              </Empty>
            ) : (
              <>
                <Speed of={data} />
                {data.map((delivery) => (
                  <DeliveryRow
                    key={`${delivery.event_id} ${delivery.created_at}`}
                    of={delivery}
                    endpoint={endpoint}
                    replay={replay}
                  />
                ))}
              </>
            )}
            <PageButtons
              of={`the deliveries to ${endpoint.url}`}
              before={cursors.length === 0 ? null : () => setCursors(cursors.slice(0, -1))}
              after={next === null || deliveries.isPlaceholderData ? null : () => setCursors([...cursors, next])}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

/** Of the deliveries on the page: the share that succeeded. */
function Speed({ of }: { of: readonly Delivery[] }): ReactNode {
  const ended = of.filter(({ state }) => state !== 'pending');
  const good = ended.filter(({ state }) => state === 'delivered').length;
  if (ended.length === 0) return null;
  const share = good / ended.length;
  const text = `${good} of the last ${ended.length} succeeded`;
  return (
    <div className="health">
      <Meter share={share} tone={share === 1 ? 'good' : share > 0.5 ? 'warn' : 'bad'} label={text} />
      <span className="muted small">{text}</span>
    </div>
  );
}

const stateTones = { pending: 'info', delivered: 'good', failed: 'bad' } as const;

function DeliveryRow(props: { of: Delivery; endpoint: Endpoint; replay: Run }): ReactNode {
  const { of: delivery, endpoint, replay } = props;
  const { event_id, type, order_id, is_replay, state, created_at, next_attempt_at, attempts } = delivery;
  const last = attempts.at(-1);
  return (
    <details className="delivery-row">
      <summary>
        <Badge tone={stateTones[state]}>{state === 'pending' ? 'Waiting' : words(state)}</Badge>
        <span className="mono">{type}</span>
        {is_replay ? <Badge tone="accent">Redelivery</Badge> : null}
        <span className="muted small spread">
          {last ? `${last.status ?? words(last.error ?? 'no answer')} · ${last.ms} ms · ` : ''}
          <Ago at={created_at} />
        </span>
      </summary>
      <div className="inside">
        {attempts.length === 0 ? (
          <p className="muted">Not tried yet.</p>
        ) : (
          <Table
            label="Attempts"
            head={
              <>
                <th>Attempt</th>
                <th>At</th>
                <th>Answer</th>
                <th className="number">Time</th>
              </>
            }
          >
            {attempts.map(({ attempt, at, status, ms, error }) => (
              <tr key={attempt}>
                <td>{attempt}</td>
                <td>
                  <Time at={at} />
                </td>
                <td>
                  <span className={error === null ? 'good-text' : 'bad-text'}>
                    {status ?? words(error ?? 'no answer')}
                  </span>
                  {status !== null && error !== null ? ` ${words(error)}` : ''}
                </td>
                <td className="number">{ms} ms</td>
              </tr>
            ))}
          </Table>
        )}
        {attempts.map(({ attempt, answer }) =>
          answer ? (
            <TextBlock key={attempt} label={`What your endpoint answered to attempt ${attempt}`} text={answer} />
          ) : null,
        )}
        {next_attempt_at ? (
          <p className="muted small">
            Next attempt <Ago at={next_attempt_at} />.
          </p>
        ) : null}
        <div className="row">
          <span className="small">
            Event <Copy text={event_id} label="event id" />
          </span>
          {order_id ? (
            <Link to="/orders/$id" params={{ id: order_id }}>
              Order
            </Link>
          ) : null}
          <Replay of={delivery} endpoint={endpoint} by={replay} />
        </div>
      </div>
    </details>
  );
}

const isLeftOut = 'It cannot be sent again: it waits, is too old, or was sent again ten times.';

function Replay(props: { of: Delivery; endpoint: Endpoint; by: Run }): ReactNode {
  const may = useMay();
  const { event_id, state, order_id } = props.of;
  const { isBusy, run } = props.by;
  // A test has no order, and is sent again by its own button.
  const isPossible = state !== 'pending' && order_id !== null && props.endpoint.status === 'enabled';
  if (!may('webhooks:write') || !isPossible) return null;
  return (
    <button
      type="button"
      className="button small"
      disabled={isBusy}
      onClick={() =>
        run(async () => {
          const { count } = await call('replayWebhookEvents', {
            path: { endpoint_id: props.endpoint.id },
            body: { event_ids: [event_id] },
          });
          return count === 0 ? [isLeftOut, false] : ['It is sent again.', true];
        })
      }
    >
      <Icon name="refresh" /> Replay
    </button>
  );
}
