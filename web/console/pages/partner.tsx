import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { FormField } from '../../ui/dialog.tsx';
import { count, percent, sumOf, usd, words } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Badge, Card, Copy, Empty, Facts, Meter, Notice, Table } from '../../ui/parts.tsx';
import { Plot } from '../../ui/plot.tsx';
import { query } from '../api.ts';
import {
  ChangeKeyDocument,
  ChangePartnerDocument,
  IssueKeyDocument,
  PartnerDocument,
  type PartnerQuery,
  RevokeKeyDocument,
  RollKeyDocument,
} from '../generated/graphql.ts';
import { scopeChoices } from '../generated/key-scopes.ts';
import { chosenScopes } from '../key-scopes.ts';
import { PartnerMembers } from '../partner-members.tsx';
import { PartnerWebhooks } from '../partner-webhooks.tsx';
import { Allowed, useMay } from '../session.tsx';
import { type Action, Actions, secretShown, send, wholeNumbers } from '../shared.tsx';

type PartnerView = PartnerQuery['partner'];

/** One partner: its business, keys, limits and webhooks. */
export function Partner(): ReactNode {
  return (
    <Allowed to="partners:read">
      <Content />
    </Allowed>
  );
}

function Content(): ReactNode {
  const { id } = useParams({ from: '/partners/$id' });
  const may = useMay();
  const partner = useQuery(query('partner', PartnerDocument, { id, mayKeys: may('keys:read') }));
  return (
    <div className="page">
      <Loaded of={partner} lines={12}>
        {(data) => (
          <>
            <Head partner={data.partner} />
            <div className="wide-narrow">
              <div className="stack">
                <Usage partner={data.partner} />
                <Keys partner={data.partner} />
                <PartnerMembers partner={data.partner} />
                <PartnerWebhooks partner={data.partner} endpoints={data.webhookEndpoints} />
              </div>
              <div className="stack">
                <Exposed partner={data.partner} />
                <Terms partner={data.partner} />
                <Access partner={data.partner} />
                <Fixed partner={data.partner} />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </div>
  );
}

function Head({ partner }: { partner: PartnerView }): ReactNode {
  const may = useMay();
  const { id, name, status } = partner;
  const isActive = status === 'ACTIVE';
  return (
    <PageHead
      title={name}
      above={
        <p className="crumb">
          <Link to="/partners">Partners</Link> / since {partner.createdAt.slice(0, 10)}
        </p>
      }
      lead={
        <span className="headline">
          <Badge tone={isActive ? 'good' : 'bad'}>{isActive ? 'Active' : 'Blocked'}</Badge>
          {partner.requireSignature ? <Badge>Signed requests</Badge> : null}
          {partner.publicStatus ? <Badge>Public status</Badge> : null}
          {partner.orderPage ? <Badge>Order page</Badge> : null}
        </span>
      }
    >
      <Link to="/orders" search={{ partner: id }} className="button">
        Orders
      </Link>
      <Actions
        version={partner.updatedAt}
        of={[
          may('partners:write') && {
            name: 'Rename',
            title: `Rename ${name}`,
            about: 'Staff and reports show the name.',
            fields: [{ name: 'name', label: 'Name', initial: name }],
            run: ({ name: next = '', reason = '' }) =>
              send(ChangePartnerDocument, { id, changes: { name: next }, reason }),
          },
          may('partners:write') && {
            name: isActive ? 'Block' : 'Unblock',
            title: `${isActive ? 'Block' : 'Unblock'} ${name}`,
            about: isActive ? 'Its requests are refused at once. Orders under way continue.' : 'Its keys work again.',
            isDangerous: isActive,
            run: ({ reason = '' }) =>
              send(ChangePartnerDocument, { id, changes: { status: isActive ? 'INACTIVE' : 'ACTIVE' }, reason }),
          },
        ]}
      />
    </PageHead>
  );
}

const dollars = (value: number): string => `$${value >= 1_000 ? `${value / 1_000}k` : value}`;

function Usage({ partner: { usage } }: { partner: PartnerView }): ReactNode {
  const points = useMemo(
    () => usage.map(({ at, volumeUsd }) => ({ at, value: Number(volumeUsd), text: usd(volumeUsd) })),
    [usage],
  );
  const created = usage.reduce((sum, bucket) => sum + bucket.created, 0);
  const completed = usage.reduce((sum, bucket) => sum + bucket.completed, 0);
  if (usage.every(({ volumeUsd }) => volumeUsd === '0')) {
    return (
      <Card title="Last 30 days">
        <Empty
          icon="orders"
          title={created === 0 ? 'No orders in 30 days' : `${count(created)} orders, and no exchange yet`}
        >
          <p>Volume by day would be here.</p>
        </Empty>
      </Card>
    );
  }
  return (
    <Card
      title="Volume of the last 30 days"
      tools={
        <span className="muted">
          {count(created)} orders · {count(completed)} completed · {usd(sumOf(usage.map(({ volumeUsd }) => volumeUsd)))}
        </span>
      }
    >
      <Plot
        sentence="Volume by day; the table below has the figures."
        points={points}
        axis={dollars}
        unit="Volume"
        height={180}
      />
    </Card>
  );
}

/** The limits that may be set for a partner: the input of each, its value, and what it bounds. */
const limits = [
  ['requests', 'rateLimitPerMin', 'Requests a minute', ''],
  ['orders', 'ordersLimitPerMin', 'Orders a minute', ''],
  ['lists', 'listsLimitPerMin', 'Lists a minute', ''],
  ['openOrders', 'maxOpenOrders', 'Waiting orders', ''],
  ['fixedExposureUsd', 'maxFixedExposureUsd', 'Fixed value an hour', '$'],
  ['fixedDayUsd', 'maxFixedDayUsd', 'Fixed value a day', '$'],
  ['floatExposureUsd', 'maxFloatExposureUsd', 'Open float value', '$'],
  ['markupBps', 'maxMarkupBps', 'Largest markup', 'bp'],
  ['quoteHoldSec', 'quoteHoldSec', 'Quotes hold', 's'],
] as const;

const unitNames: Readonly<Record<string, string>> = { $: 'US dollars', bp: 'basis points', s: 'seconds' };

function measured(value: number, unit: string): string {
  return unit === '$' ? `$${count(value)}` : `${count(value)} ${unit}`.trimEnd();
}

/** Limits that are the same for each partner. */
const gatewayLimits = [
  ['quotes', 'Binding quotes a minute'],
  ['validations', 'Validations a minute'],
  ['changes', 'Order changes a minute'],
] as const;

function feesAction({ id, name, feeRateFloat, feeRateFixed }: PartnerView): Action {
  return {
    name: 'Fees',
    title: `Fees of ${name}`,
    about: 'Fractions: 0.005 is half a percent. An empty field restores the fee of the gateway.',
    fields: [
      { name: 'float', label: 'On float orders', isOptional: true, initial: feeRateFloat ?? '' },
      { name: 'fixed', label: 'On fixed orders', isOptional: true, initial: feeRateFixed ?? '' },
    ],
    run: ({ float = '', fixed = '', reason = '' }) =>
      send(ChangePartnerDocument, {
        id,
        reason,
        changes: { pricing: { float: float.trim() || null, fixed: fixed.trim() || null } },
      }),
  };
}

function limitsAction(partner: PartnerView): Action {
  const { id, name, keepsFixedCaps } = partner;
  return {
    name: 'Limits',
    title: `Limits of ${name}`,
    about: "An empty field restores the gateway's limit. Orders and quotes that exist stay as they are.",
    fields: [
      ...limits.map(([input, member, label, unit]) => ({
        name: input,
        label: [label, unitNames[unit]].filter(Boolean).join(', '),
        ...(partner[member] === null ? { placeholder: `${count(partner.limits[input])}, the gateway's` } : {}),
        isOptional: true,
        initial: partner[member] === null ? '' : String(partner[member]),
      })),
      {
        name: 'keepsFixedCaps',
        label: 'Fixed caps stay when fixed orders cost more than they earn',
        hint: 'Otherwise they fall to a tenth.',
        kind: 'check',
        isOptional: true,
        initial: String(keepsFixedCaps),
      },
    ],
    run: async ({ reason = '', ...values }) => {
      const inputs = limits.map(([input]) => input);
      const given = wholeNumbers(values, inputs);
      // Only what was changed, so that a change of another member meanwhile stays.
      const changed = limits.filter(([input, member]) => given[input] !== partner[member]);
      const keeps = values.keepsFixedCaps === 'true';
      const asked = {
        ...Object.fromEntries(changed.map(([input]) => [input, given[input]])),
        ...(keeps === keepsFixedCaps ? {} : { keepsFixedCaps: keeps }),
      };
      return send(ChangePartnerDocument, { id, reason, changes: { limits: asked } });
    },
  };
}

function Terms({ partner }: { partner: PartnerView }): ReactNode {
  const may = useMay();
  const whose = (isOwn: boolean): ReactNode =>
    isOwn ? <Badge tone="accent">its own</Badge> : <span className="muted small">default</span>;
  const valued = (text: string, isOwn: boolean): ReactNode => (
    <span className="row tight">
      {text} {whose(isOwn)}
    </span>
  );
  return (
    <Card
      title="Fees and limits"
      tools={
        may('partners:price') ? (
          <Actions small version={partner.updatedAt} of={[feesAction(partner), limitsAction(partner)]} />
        ) : null
      }
    >
      <Facts
        of={[
          ['Float fee', valued(percent(partner.pricing.float), partner.feeRateFloat !== null)],
          ['Fixed fee', valued(percent(partner.pricing.fixed), partner.feeRateFixed !== null)],
          ...limits.map(
            ([name, member, label, unit]) =>
              [label, valued(measured(partner.limits[name], unit), partner[member] !== null)] as const,
          ),
          ...gatewayLimits.map(([name, label]) => [label, valued(count(partner.limits[name]), false)] as const),
          ['Partner id', <Copy key="i" text={partner.id} short label="partner id" />],
        ]}
      />
    </Card>
  );
}

function accessActions({ id, name, requireSignature, publicStatus, orderPage, displayName }: PartnerView): Action[] {
  return [
    {
      name: requireSignature ? 'Stop requiring signatures' : 'Require signatures',
      title: requireSignature ? `Take unsigned requests of ${name}` : `Require signatures of ${name}`,
      about: requireSignature
        ? 'Its order requests are taken without a signature. A stolen key alone can then create orders.'
        : 'Its order requests without a valid X-Signature are refused at once. Agree on it with the partner first.',
      isDangerous: true,
      run: ({ reason = '' }) =>
        send(ChangePartnerDocument, { id, changes: { requireSignature: !requireSignature }, reason }),
    },
    {
      name: publicStatus ? 'Close public status' : 'Open public status',
      title: publicStatus ? `Close the public status of ${name}` : `Open the public status of ${name}`,
      about: publicStatus
        ? 'The status of its orders needs a key again.'
        : 'Everyone who knows the id of one of its orders can read the status of that order without a key.',
      isDangerous: !publicStatus,
      run: ({ reason = '' }) => send(ChangePartnerDocument, { id, changes: { publicStatus: !publicStatus }, reason }),
    },
    {
      name: 'Order page',
      title: `Order page of ${name}`,
      about: 'A page for the users who pay its orders. Switched off, all of its pages close at once.',
      fields: [
        {
          name: 'enabled',
          label: 'Its orders have a page',
          kind: 'check',
          initial: String(orderPage),
          isOptional: true,
        },
        {
          name: 'displayName',
          label: 'Name that users read',
          hint: '1 to 60 characters.',
          isOptional: true,
          initial: displayName ?? '',
        },
      ],
      run: ({ enabled = '', displayName: shown = '', reason = '' }) =>
        send(ChangePartnerDocument, {
          id,
          changes: { orderPage: enabled === 'true', ...(shown.trim() && { displayName: shown.trim() }) },
          reason,
        }),
    },
  ];
}

function Access({ partner }: { partner: PartnerView }): ReactNode {
  const may = useMay();
  const { requireSignature, publicStatus, orderPage, displayName } = partner;
  return (
    <Card title="Requests and pages">
      <div className="stack">
        <Facts
          of={[
            ['Order requests', requireSignature ? 'must be signed' : 'need no signature'],
            ['Status of orders', publicStatus ? 'open to everyone with the id' : 'needs a key'],
            ['Order page', orderPage ? `on, as ${displayName ?? 'no name'}` : 'off'],
          ]}
        />
        {may('partners:write') ? (
          <div className="row">
            <Actions small version={partner.updatedAt} of={accessActions(partner)} />
          </div>
        ) : null}
      </div>
    </Card>
  );
}

/** What its orders take of its caps. Shares are for the bars only; the texts are exact. */
function Exposed({ partner: { exposure } }: { partner: PartnerView }): ReactNode {
  const { orders, ordersCap, fixedHourUsd, fixedHourCapUsd, fixedDayUsd, fixedDayCapUsd } = exposure;
  const rows = [
    ['Waiting orders', String(orders), String(ordersCap), (text: string) => count(Number(text))],
    ['Fixed, created within an hour', fixedHourUsd, fixedHourCapUsd, usd],
    ['Fixed, created within a day', fixedDayUsd, fixedDayCapUsd, usd],
    ['Float, waiting or under way', exposure.floatUsd, exposure.floatCapUsd, usd],
  ] as const;
  return (
    <Card title="Open exposure">
      <div className="stack">
        {rows.map(([what, taken, cap, shown]) => {
          const share = Number(cap) === 0 ? 1 : Number(taken) / Number(cap);
          const text = `${shown(taken)} of ${shown(cap)}`;
          return (
            <div key={what} className="limit">
              <span>{what}</span>
              <span className="small mono">{text}</span>
              <Meter
                share={share}
                tone={share >= 1 ? 'bad' : share > 0.8 ? 'warn' : 'accent'}
                label={`${what}: ${text}`}
              />
            </div>
          );
        })}
        {exposure.areFixedCapsCut ? (
          <Notice tone="warn">Its fixed caps are cut, because its fixed orders cost more than they earn.</Notice>
        ) : null}
      </div>
    </Card>
  );
}

function Fixed({ partner: { fixedResults, keepsFixedCaps } }: { partner: PartnerView }): ReactNode {
  return (
    <Card title="Results of fixed orders" flush>
      <Table
        label="Results of fixed orders"
        head={
          <>
            <th>In</th>
            <th className="number">Orders</th>
            <th className="number">Sent</th>
            <th className="number">Adverse</th>
            <th className="number">Loss</th>
          </>
        }
      >
        {(['day', 'month'] as const).map((range) => {
          const { orders, sentUsd, adverseBps, lossUsd } = fixedResults[range];
          return (
            <tr key={range}>
              <td className="nowrap">{range === 'day' ? '24 hours' : '30 days'}</td>
              <td className="number">{count(orders)}</td>
              <td className="number">{usd(sentUsd)}</td>
              <td className="number">{adverseBps === null ? '–' : `${adverseBps} bp`}</td>
              <td className={`number ${lossUsd.startsWith('-') || lossUsd === '0' ? '' : 'bad-text strong'}`}>
                {usd(lossUsd)}
              </td>
            </tr>
          );
        })}
      </Table>
      {keepsFixedCaps ? (
        <p className="muted small body">Its fixed caps stay when its orders cost more than they earn.</p>
      ) : null}
    </Card>
  );
}

type Key = NonNullable<PartnerView['keys']>[number];

const addressesField: FormField = {
  name: 'cidrs',
  label: 'IP addresses',
  isOptional: true,
  hint: 'Like 203.0.113.0/24, parted by commas. Empty allows all.',
};

function addressesOf(text: string): string[] {
  return text
    .split(',')
    .map((cidr) => cidr.trim())
    .filter(Boolean);
}

function Keys({ partner }: { partner: PartnerView }): ReactNode {
  const may = useMay();
  const { keys, id, name } = partner;
  if (!keys) return null;
  const issue: Action<{ keyIssue: { key: string } }> = {
    name: 'New key',
    icon: 'plus',
    title: `New key for ${name}`,
    about: 'With all permissions but changing orders. A partner has at most five valid keys.',
    fields: [{ name: 'label', label: 'Purpose', hint: 'Like: production' }, addressesField],
    run: ({ label = '', cidrs = '', reason = '' }) =>
      send(IssueKeyDocument, {
        partnerId: id,
        reason,
        key: {
          label,
          allowedCidrs: addressesOf(cidrs),
        },
      }),
    shown: ({ keyIssue }) => secretShown('key', keyIssue.key),
  };
  return (
    <Card title="Keys" flush tools={may('keys:write') ? <Actions of={[issue as Action]} small /> : null}>
      {keys.length === 0 ? (
        <Empty icon="lock" title="No key yet">
          <p>The partner needs a key to use the API.</p>
        </Empty>
      ) : (
        <Table
          label="Keys"
          head={
            <>
              <th>Key</th>
              <th>IP addresses</th>
              <th className="number">Refused, 24 h</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </>
          }
        >
          {keys.map((key) => (
            <tr key={key.keyId}>
              <td>
                <span>
                  <span className="strong">{key.label || 'Without a purpose'}</span> <KeyState of={key} />
                  <br />
                  <span className="muted small" title={key.scopes.map(words).join(', ')}>
                    …{key.last4} · {key.scopes.length} permissions
                  </span>
                  <br />
                  <span className="muted small">
                    {key.lastUsedAt ? (
                      <>
                        used <Ago at={key.lastUsedAt} />
                      </>
                    ) : (
                      'never used'
                    )}
                  </span>
                </span>
              </td>
              <td className="small">
                {key.allowedCidrs.length === 0 ? <span className="muted">all</span> : key.allowedCidrs.join(', ')}
              </td>
              <td className="number nowrap">
                <Refusals of={key} />
              </td>
              <td className="number">
                <span className="row tight">
                  <Actions small of={may('keys:write') && key.revokedAt === null ? keyActions(key) : []} />
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

/** Requests that were refused, and those of them beyond a rate limit. */
function Refusals({ of: { refusals } }: { of: Key }): ReactNode {
  const { refused, limited } = refusals;
  if (refused === 0 && limited === 0) return <span className="muted">none</span>;
  return (
    <>
      {count(refused)} <span className="muted small">answered 4xx</span>
      <br />
      <span className={limited > 0 ? 'warn-text' : ''}>{count(limited)}</span>{' '}
      <span className="muted small">answered 429</span>
    </>
  );
}

function KeyState({ of: { revokedAt, expiresAt } }: { of: Key }): ReactNode {
  if (revokedAt) return <Badge>Revoked</Badge>;
  if (expiresAt && Date.parse(expiresAt) < Date.now()) return <Badge>Expired</Badge>;
  if (expiresAt) {
    return (
      <Badge tone="warn">
        Ends <Ago at={expiresAt} />
      </Badge>
    );
  }
  return <Badge tone="good">Valid</Badge>;
}

function changeAction({ keyId, label, allowedCidrs, defaultMarkupBps, ...key }: Key): Action {
  return {
    name: 'Change',
    title: `Change ${label || 'the key'}`,
    about: 'In force at once for new orders, and within ten seconds for all requests.',
    fields: [
      { name: 'label', label: 'Purpose', isOptional: true, initial: label },
      {
        name: 'scopes',
        label: 'Permissions',
        kind: 'set',
        hint: 'At least one.',
        choices: scopeChoices,
        initial: key.scopes.join(','),
      },
      { ...addressesField, initial: allowedCidrs.join(', ') },
      {
        name: 'defaultMarkupBps',
        label: 'Default markup, basis points',
        isOptional: true,
        hint: 'Of quotes and orders that name none.',
        initial: defaultMarkupBps === null ? '' : String(defaultMarkupBps),
      },
    ],
    run: async ({ label: next = '', scopes: chosen = '', cidrs = '', reason = '', ...values }) =>
      send(ChangeKeyDocument, {
        keyId,
        reason,
        key: {
          label: next,
          scopes: chosenScopes(chosen),
          allowedCidrs: addressesOf(cidrs),
          ...wholeNumbers(values, ['defaultMarkupBps']),
        },
      }),
  };
}

function keyActions(key: Key): readonly Action[] {
  const { keyId, label } = key;
  const roll: Action<{ keyRoll: { key: string } }> = {
    name: 'Roll',
    title: `Roll ${label || 'the key'}`,
    about: 'Issues a successor. Both keys work until the old one ends.',
    fields: [{ name: 'hours', label: 'Hours until the old key ends', initial: '24', hint: '0 to 168' }],
    run: async ({ reason = '', ...values }) =>
      send(RollKeyDocument, { keyId, hours: wholeNumbers(values, ['hours']).hours ?? 0, reason }),
    shown: ({ keyRoll }) => secretShown('new key', keyRoll.key),
  };
  return [
    changeAction(key),
    roll as Action,
    {
      name: 'Revoke',
      title: `Revoke ${label || 'the key'}`,
      about: 'Requests with this key are refused at once, for good.',
      isDangerous: true,
      run: ({ reason = '' }) => send(RevokeKeyDocument, { keyId, reason }),
    },
  ];
}
