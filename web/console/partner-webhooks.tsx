import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { FormField } from '../ui/dialog.tsx';
import { phrase, words } from '../ui/format.ts';
import { Ago, Badge, Card, Copy, Facts, Notice, Table, TextBlock, Time, type Tone } from '../ui/parts.tsx';
import { query } from './api.ts';
import {
  ChangeWebhookDocument,
  CreateWebhookDocument,
  DeleteWebhookDocument,
  type PartnerQuery,
  ReplayWebhookDocument,
  RotateWebhookSecretDocument,
  TestWebhookDocument,
  WebhookEventTypesDocument,
  type WebhookInput,
} from './generated/graphql.ts';
import { useMay } from './session.tsx';
import { type Action, Actions, secretShown, send, wholeNumbers } from './shared.tsx';

type Endpoint = PartnerQuery['webhookEndpoints'][number];
type Delivery = Endpoint['deliveries'][number];

/** The webhook endpoints of a partner: their health, newest deliveries, and what staff may do. */
export function PartnerWebhooks(props: {
  partner: { readonly id: string; readonly name: string };
  endpoints: readonly Endpoint[];
}): ReactNode {
  const { partner, endpoints } = props;
  const may = useMay();
  const mayWrite = may('partners:write');
  const types = useQuery({
    ...query('event-types', WebhookEventTypesDocument, {}),
    enabled: mayWrite,
    staleTime: 60_000,
  });
  const known = types.data?.webhookEventTypes ?? null;
  return (
    <Card
      title="Webhooks"
      flush={endpoints.length > 0}
      tools={mayWrite && known ? <Actions small of={[addEndpoint(partner, known) as Action]} /> : null}
    >
      {endpoints.length === 0 ? (
        <p className="muted">No endpoint. The partner asks for changes itself.</p>
      ) : (
        endpoints.map((endpoint) => (
          <EndpointView key={endpoint.id} of={endpoint} actions={mayWrite && known ? actionsOf(endpoint, known) : []} />
        ))
      )}
    </Card>
  );
}

function fieldsOf(known: readonly string[], endpoint?: Endpoint): FormField[] {
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
      choices: known.map((type) => [type, type] as const),
    },
    {
      name: 'coinFrom',
      label: 'Only from coin',
      isOptional: true,
      initial: endpoint?.coinFrom ?? '',
      hint: 'Like BTC',
    },
    { name: 'coinTo', label: 'Only to coin', isOptional: true, initial: endpoint?.coinTo ?? '', hint: 'Like USDT' },
    {
      name: 'amounts',
      label: 'Amounts',
      kind: 'choice',
      initial: endpoint?.amounts ?? 'STRING',
      choices: [
        ['STRING', 'as strings, which keep all digits'],
        ['NUMBER', 'as numbers'],
      ],
    },
  ];
}

function inputOf(values: Readonly<Record<string, string>>, known: readonly string[]): WebhookInput {
  const { url = '', types = '', coinFrom = '', coinTo = '', amounts } = values;
  const chosen = types.split(',').filter(Boolean);
  return {
    url: url.trim(),
    types: chosen.length === 0 || chosen.length === known.length ? null : chosen,
    coinFrom: coinFrom.trim() || null,
    coinTo: coinTo.trim() || null,
    amounts: amounts === 'NUMBER' ? 'NUMBER' : 'STRING',
  };
}

function addEndpoint(
  { id, name }: { readonly id: string; readonly name: string },
  known: readonly string[],
): Action<{ webhookCreate: { secret: string } }> {
  return {
    name: 'Add an endpoint',
    icon: 'plus',
    title: `New endpoint of ${name}`,
    about: 'Events from now on are sent here, signed. The signing secret is shown next, once.',
    fields: fieldsOf(known),
    run: ({ reason = '', ...values }) =>
      send(CreateWebhookDocument, { partnerId: id, endpoint: inputOf(values, known), reason }),
    shown: ({ webhookCreate }) => secretShown('signing secret', webhookCreate.secret),
  };
}

function actionsOf(endpoint: Endpoint, known: readonly string[]): readonly (Action | false)[] {
  const { id, url } = endpoint;
  const isEnabled = endpoint.status === 'ENABLED';
  const rotate: Action<{ webhookRotateSecret: { secret: string } }> = {
    name: 'New secret',
    title: 'Make a new signing secret',
    about: 'Until the old secret ends, each delivery carries two signatures. A receiver may check either.',
    fields: [{ name: 'hours', label: 'Hours that the old secret signs too', initial: '24', hint: '0 to 168' }],
    run: async ({ reason = '', ...values }) =>
      send(RotateWebhookSecretDocument, { id, hours: wholeNumbers(values, ['hours']).hours ?? 0, reason }),
    shown: ({ webhookRotateSecret }) => secretShown('new signing secret', webhookRotateSecret.secret),
  };
  return [
    {
      name: 'Change',
      title: 'Change the endpoint',
      about: 'Deliveries that wait go to the new URL.',
      fields: fieldsOf(known, endpoint),
      run: ({ reason = '', ...values }) =>
        send(ChangeWebhookDocument, { id, endpoint: inputOf(values, known), reason }),
    },
    isEnabled && {
      name: 'Send a test',
      title: 'Send a test to the endpoint',
      about: `An event that is none goes to ${url} before all others. Its result appears with the deliveries.`,
      run: ({ reason = '' }) => send(TestWebhookDocument, { id, reason }),
    },
    rotate as Action,
    {
      name: isEnabled ? 'Disable' : 'Enable',
      title: `${isEnabled ? 'Disable' : 'Enable'} the endpoint`,
      about: isEnabled
        ? `Nothing is sent to ${url} until it is enabled. The partner can replay what it missed.`
        : `Deliveries that wait go on to ${url}, and its failures are forgotten.`,
      isDangerous: isEnabled,
      run: ({ reason = '' }) =>
        send(ChangeWebhookDocument, { id, endpoint: { status: isEnabled ? 'DISABLED' : 'ENABLED' }, reason }),
    },
    {
      name: 'Delete',
      title: 'Delete the endpoint',
      about: `Nothing more is sent to ${url}. Its secret ends.`,
      isDangerous: true,
      run: ({ reason = '' }) => send(DeleteWebhookDocument, { id, reason }),
    },
  ];
}

function healthOf({ status, failures, lastSuccessAt }: Endpoint): readonly [Tone, string] {
  if (status === 'DISABLED') return ['plain', 'Disabled'];
  if (failures > 0) return ['bad', failures === 1 ? 'Failing: 1 failure' : `Failing: ${failures} failures`];
  return lastSuccessAt === null ? ['plain', 'Nothing sent yet'] : ['good', 'Working'];
}

function EndpointView({ of: endpoint, actions }: { of: Endpoint; actions: readonly (Action | false)[] }): ReactNode {
  const [tone, text] = healthOf(endpoint);
  const { coinFrom, coinTo, types, lastSuccessAt, lastFailureAt, failingSince } = endpoint;
  return (
    <section className="endpoint" aria-label={`Endpoint ${endpoint.url}`}>
      <header className="row">
        <Badge tone={tone}>{text}</Badge>
        <code className="detail">{endpoint.url}</code>
      </header>
      {endpoint.disabledReason ? (
        <Notice tone="warn">
          Disabled
          {endpoint.disabledAt ? (
            <>
              {' '}
              since <Time at={endpoint.disabledAt} />
            </>
          ) : null}
          : {phrase(endpoint.disabledReason)}.
        </Notice>
      ) : null}
      <Facts
        of={[
          ['Events', types === null ? 'all' : types.join(', ')],
          [
            'Orders',
            coinFrom === null && coinTo === null ? 'all' : `${coinFrom ?? 'any coin'} → ${coinTo ?? 'any coin'}`,
          ],
          ['Amounts', endpoint.amounts === 'NUMBER' ? 'as numbers' : 'as strings'],
          ['Last success', lastSuccessAt ? <Ago key="s" at={lastSuccessAt} /> : 'none yet'],
          ['Last failure', lastFailureAt ? <Ago key="f" at={lastFailureAt} /> : 'none'],
          ...(failingSince ? ([['Failing since', <Time key="t" at={failingSince} />]] as const) : []),
        ]}
      />
      <div className="row">
        <Actions small of={actions} />
      </div>
      {endpoint.deliveries.length === 0 ? (
        <p className="muted small">No delivery in 30 days.</p>
      ) : (
        endpoint.deliveries.map((delivery) => (
          <DeliveryView
            key={`${delivery.eventId} ${delivery.createdAt}`}
            of={delivery}
            endpoint={actions.length === 0 ? null : endpoint}
          />
        ))
      )}
    </section>
  );
}

const stateTones = { DELIVERED: 'good', FAILED: 'bad', PENDING: 'plain' } as const;

/** Sends one event again. A test has no order, and is sent again by its own action. */
function replayAction({ id, url }: Endpoint, { eventId, type }: Delivery): Action {
  return {
    name: 'Send again',
    icon: 'refresh',
    title: `Send ${type} again`,
    about: `The event keeps its id, ${eventId}, and goes to ${url} once more.`,
    run: ({ reason = '' }) => send(ReplayWebhookDocument, { id, eventIds: [eventId], reason }),
  };
}

/** @param endpoint Null for a member who may not send it again. */
function DeliveryView({ of: delivery, endpoint }: { of: Delivery; endpoint: Endpoint | null }): ReactNode {
  const { state, type, isReplay, log, createdAt, nextAttemptAt, eventId, orderId } = delivery;
  const mayReplay = state !== 'PENDING' && orderId !== null && endpoint?.status === 'ENABLED';
  const last = log.at(-1);
  return (
    <details className="delivery">
      <summary>
        <Badge tone={stateTones[state]}>{state === 'PENDING' ? 'Waiting' : words(state)}</Badge> {type}
        {isReplay ? ', sent again' : ''}
        <span className="muted small">
          {last ? ` · ${last.status ?? words(last.error ?? 'no answer')} in ${last.ms} ms` : ''} ·{' '}
          <Ago at={createdAt} />
        </span>
      </summary>
      <p className="small">
        Event <Copy text={eventId} label="event id" />
        {nextAttemptAt ? (
          <>
            {' '}
            · next attempt <Ago at={nextAttemptAt} />
          </>
        ) : null}
      </p>
      {mayReplay ? (
        <div className="row">
          <Actions small of={[replayAction(endpoint, delivery)]} />
        </div>
      ) : null}
      {log.length === 0 ? (
        <p className="muted small">Not tried yet.</p>
      ) : (
        <Table
          label={`Attempts of ${eventId}`}
          head={
            <>
              <th>Attempt</th>
              <th>At</th>
              <th>Answer</th>
              <th className="number">Time</th>
            </>
          }
        >
          {log.map(({ attempt, at, status, ms, error, answer }) => (
            <tr key={attempt}>
              <td>{attempt}</td>
              <td>
                <Time at={at} />
              </td>
              <td className={error === null ? 'good-text' : 'bad-text'}>
                {[status, error === null ? null : words(error)].filter((part) => part !== null).join(' ')}
                {answer ? (
                  <details>
                    <summary>What the receiver answered</summary>
                    <TextBlock label={`The answer to attempt ${attempt}`} text={answer} />
                  </details>
                ) : null}
              </td>
              <td className="number">{ms} ms</td>
            </tr>
          ))}
        </Table>
      )}
    </details>
  );
}
