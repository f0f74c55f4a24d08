import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { phrase, words } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Badge, Card, Empty, Time, type Tone } from '../../ui/parts.tsx';
import type { Search } from '../../ui/search.ts';
import { query } from '../api.ts';
import { changesOf } from '../diff.ts';
import { AuditDocument, type AuditQuery, type AuditStep, StaffDocument } from '../generated/graphql.ts';
import { Allowed, useMay } from '../session.tsx';
import { DayRange, Pager } from '../shared.tsx';

const pageSize = 25;

/** Every action of staff with its reason, and what it changed. */
export function Audit(): ReactNode {
  return (
    <Allowed to="audit:read">
      <Content />
    </Allowed>
  );
}

function Content(): ReactNode {
  const may = useMay();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const { after, before, member, target, operation, from, to } = search;
  const filter = {
    ...(member ? { member } : {}),
    ...(target ? { target } : {}),
    ...(operation ? { operation } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
  };
  const go = (change: Search): void => void navigate({ to: '/audit', search: { ...filter, ...change } });
  const audit = useQuery({
    ...query('audit', AuditDocument, {
      ...(before ? { last: pageSize, before } : { first: pageSize, ...(after ? { after } : {}) }),
      ...(member ? { staffId: member } : {}),
      ...(target ? { target } : {}),
      ...(operation ? { operation } : {}),
      ...(from ? { from: startOfDay(from, 0) } : {}),
      ...(to ? { to: startOfDay(to, 1) } : {}),
    }),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="page">
      <PageHead title="Audit log" lead="Newest first. Entries are never changed or removed." />
      <div className="filters">
        {may('staff:read') ? <MemberFilter value={member ?? ''} onChange={(id) => go({ member: id })} /> : null}
        <TextFilter
          key={`target ${target}`}
          label="Object, like order:<id>"
          placeholder="Object, like order:<id>"
          value={target ?? ''}
          onChange={(text) => go({ target: text })}
        />
        <TextFilter
          key={`operation ${operation}`}
          label="Operation"
          placeholder="Operation, like orderHold"
          value={operation ?? ''}
          onChange={(text) => go({ operation: text })}
        />
        <DayRange from={from ?? ''} to={to ?? ''} set={go} />
        {Object.values(filter).some(Boolean) ? (
          <Link to="/audit" className="button quiet small">
            <Icon name="close" /> Clear
          </Link>
        ) : null}
      </div>
      <Card title="Actions" flush>
        <Loaded of={audit} lines={10}>
          {({ auditLog }) =>
            auditLog.edges.length === 0 ? (
              <Empty icon="audit" title="No action fits">
                <p>Each action of staff would be here with its reason.</p>
              </Empty>
            ) : (
              <>
                <ul className="queue">
                  {auditLog.edges.map(({ node }) => (
                    <Entry key={node.id} of={node} />
                  ))}
                </ul>
                <Pager info={auditLog.pageInfo} go={go} />
              </>
            )
          }
        </Loaded>
      </Card>
    </div>
  );
}

function MemberFilter({ value, onChange }: { value: string; onChange: (id: string) => void }): ReactNode {
  const staff = useQuery({ ...query('staff', StaffDocument, {}), staleTime: 60_000 });
  return (
    <select
      className="input small finder"
      aria-label="Member"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">Every member</option>
      {staff.data?.staff.map(({ id, email }) => (
        <option key={id} value={id}>
          {email}
        </option>
      ))}
    </select>
  );
}

/** The beginning of a day in UTC, or of a day after it. The text of an address may be no day. */
function startOfDay(day: string, daysLater: number): string {
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? day : new Date(at + daysLater * 86_400_000).toISOString();
}

function TextFilter(props: {
  label: string;
  placeholder: string;
  value: string;
  onChange: (text: string) => void;
}): ReactNode {
  const { label, placeholder, value, onChange } = props;
  const [text, setText] = useState(value);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
      }}
    >
      <input
        className="input small finder"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        spellCheck={false}
        onChange={({ target }) => setText(target.value)}
      />
    </form>
  );
}

type EntryView = AuditQuery['auditLog']['edges'][number]['node'];

const stepTones: Readonly<Record<AuditStep, Tone>> = {
  PROPOSED: 'warn',
  APPROVED: 'good',
  REJECTED: 'plain',
  WITHDRAWN: 'plain',
};

function Entry({ of }: { of: EntryView }): ReactNode {
  const changes = changesOf(of.before, of.after);
  const { proposal } = of;
  return (
    <li className="audit-entry">
      <span className="kind">
        {proposal ? (
          <Badge tone={stepTones[proposal.step]}>
            {words(proposal.step)}: {phrase(proposal.what)}
          </Badge>
        ) : (
          <Badge>{of.operation}</Badge>
        )}
      </span>
      <span className="detail">
        <span className="strong">{of.actor?.email ?? of.operator ?? `${of.member}, partner`}</span>: {of.reason}
        <br />
        <span className="muted small">
          <Target of={of} />
          {proposal ? ` · ${of.operation}` : ''}
          <br />
          from {of.ip} · request <code>{of.requestId}</code>
        </span>
        {changes.length > 0 ? (
          <details>
            <summary className="small muted">
              {changes.length} {changes.length === 1 ? 'change' : 'changes'}
            </summary>
            <div className="diff">
              {changes.map(({ member, before, after }) => (
                <div key={member}>
                  <span className="muted">{member}</span>
                  <span>
                    {before === null ? null : <del>{before}</del>} {after === null ? null : <ins>{after}</ins>}
                  </span>
                </div>
              ))}
            </div>
          </details>
        ) : null}
      </span>
      <span className="age">
        <Time at={of.at} />
      </span>
    </li>
  );
}

/** Pages by the kind of an object that is no order and belongs to no partner. */
const places: Readonly<Record<string, '/money' | '/chains' | '/staff' | '/attention' | '/catalogue' | undefined>> = {
  hold: '/money',
  chain: '/chains',
  staff: '/staff',
  attention: '/attention',
  currency: '/catalogue',
};

/** The object's name, with links to its page and to all actions on it. The title has its id. */
function Target({ of: { target, object } }: { of: EntryView }): ReactNode {
  const at = target.indexOf(':');
  const kind = target.slice(0, Math.max(0, at));
  return (
    <>
      <ObjectLink kind={kind} of={object} title={target}>
        {at < 0 ? target : `${phrase(kind)} ${object.name}`}
      </ObjectLink>{' '}
      ·{' '}
      <Link to="/audit" search={{ target }} className="muted">
        all actions on it
      </Link>
    </>
  );
}

function ObjectLink(props: { kind: string; of: EntryView['object']; title: string; children: ReactNode }): ReactNode {
  const may = useMay();
  const { kind, title, children } = props;
  const { name, orderId, partnerId } = props.of;
  if (orderId !== null) {
    return (
      <Link to="/orders/$id" params={{ id: orderId }} title={title}>
        {children}
      </Link>
    );
  }
  if (partnerId !== null) {
    return (
      <Link to="/partners/$id" params={{ id: partnerId }} title={title}>
        {children}
      </Link>
    );
  }
  const place = kind === 'staff' && !may('staff:read') ? undefined : places[kind];
  if (place === undefined) return <span title={title}>{children}</span>;
  return (
    <Link to={place} search={kind === 'currency' ? { q: name.split('/')[0] } : {}} title={title}>
      {children}
    </Link>
  );
}
