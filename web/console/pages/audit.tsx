import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Badge, Card, Empty, Time } from '../../ui/parts.tsx';
import { query } from '../api.ts';
import { changesOf } from '../diff.ts';
import { AuditDocument, type AuditQuery, StaffDocument } from '../generated/graphql.ts';
import type { Search } from '../router.tsx';
import { Allowed, useMay } from '../session.tsx';
import { Pager } from '../shared.tsx';

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
          placeholder="Object, like currency:BTC/BTC"
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
        <DayFilter label="From day (UTC)" word="from" value={from ?? ''} onChange={(day) => go({ from: day })} />
        <DayFilter label="To day (UTC)" word="to" value={to ?? ''} onChange={(day) => go({ to: day })} />
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

function DayFilter(props: { label: string; word: string; value: string; onChange: (day: string) => void }): ReactNode {
  return (
    <label>
      <span className="muted">{props.word}</span>
      <input
        className="input small"
        type="date"
        aria-label={props.label}
        value={props.value}
        onChange={({ target }) => props.onChange(target.value)}
      />
    </label>
  );
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

function Entry({ of }: { of: EntryView }): ReactNode {
  const changes = changesOf(of.before, of.after);
  return (
    <li className="audit-entry">
      <span className="kind">
        <Badge>{of.operation}</Badge>
      </span>
      <span className="detail">
        <span className="strong">{of.actor?.email ?? of.operator ?? `${of.member}, partner`}</span>: {of.reason}
        <br />
        <span className="muted small">
          <Target of={of.target} /> · from {of.ip} · request <code>{of.requestId}</code>
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

function Target({ of }: { of: string }): ReactNode {
  const [kind = '', id = ''] = of.split(':', 2);
  if (kind === 'order') {
    return (
      <Link to="/orders/$id" params={{ id }}>
        {of}
      </Link>
    );
  }
  if (kind === 'partner') {
    return (
      <Link to="/partners/$id" params={{ id }}>
        {of}
      </Link>
    );
  }
  return <code>{of}</code>;
}
