import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Badge, Card, Meter, Notice } from '../../ui/parts.tsx';
import { query, type Schemas } from '../api.ts';
import { type LimitGroup, type LimitRow, limitGroups } from '../limits.ts';
import { Allowed } from '../session.tsx';
import './limits.css';

/** Every limit of the partner, and how much of it is used now. */
export function Limits(): ReactNode {
  return (
    <Allowed to="orders:read">
      <Content />
    </Allowed>
  );
}

function Content(): ReactNode {
  const limits = useQuery({ ...query('getLimits', {}), refetchInterval: 10_000 });
  return (
    <div className="page">
      <PageHead
        title="Limits"
        lead="What your account may use, and what it uses now. Limits are the gateway's, but those marked as your own."
      />
      <Loaded of={limits} lines={14}>
        {(view) => (
          <>
            <Cuts of={view} />
            <div className="limit-groups">
              {limitGroups(view.limits).map((group) => (
                <Group key={group.title} of={group} />
              ))}
            </div>
          </>
        )}
      </Loaded>
    </div>
  );
}

/** Why a limit is lower at present than it usually is. */
function Cuts({ of }: { of: Schemas['Limits'] }): ReactNode {
  return (
    <>
      {of.are_fixed_caps_cut ? (
        <Notice tone="warn">
          Your limits of fixed orders are a tenth at present, because these orders lose money: users pay mostly those
          that the market made cheap. They rise again by themselves.
        </Notice>
      ) : null}
      {of.is_quote_hold_cut ? (
        <Notice tone="warn">
          Your fixed quotes hold for at most 15 seconds at present, because the ones that you used were better than the
          market by more than the fee. They hold longer again by themselves.
        </Notice>
      ) : null}
    </>
  );
}

function Group({ of: { title, about, rows } }: { of: LimitGroup }): ReactNode {
  return (
    <Card title={title} flush>
      <p className="muted small limit-about">{about}</p>
      <ul className="limit-rows">
        {rows.map((row) => (
          <Row key={row.name} of={row} />
        ))}
      </ul>
    </Card>
  );
}

function Row({ of: { label, about, most, used, share, isOwn } }: { of: LimitRow }): ReactNode {
  const text = used === null ? most : `${used} of ${most}`;
  return (
    <li>
      <p className="limit-line">
        <span className="strong">{label}</span>
        {isOwn ? <Badge tone="accent">Your own</Badge> : null}
        <span className="limit-figure">{text}</span>
      </p>
      {share === null ? null : (
        <Meter share={share} tone={share > 0.9 ? 'bad' : share > 0.7 ? 'warn' : 'accent'} label={`${label}: ${text}`} />
      )}
      <p className="muted small">{about}</p>
    </li>
  );
}
