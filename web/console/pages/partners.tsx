import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count, percent, sumOf, usd } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Badge, Card, Empty, Meter, Table } from '../../ui/parts.tsx';
import { query } from '../api.ts';
import { CreatePartnerDocument, PartnersDocument } from '../generated/graphql.ts';
import type { Search } from '../router.tsx';
import { Allowed, useMay } from '../session.tsx';
import { Actions, send } from '../shared.tsx';

/** All partners with what they pay and their last 30 days. */
export function Partners(): ReactNode {
  return (
    <Allowed to="partners:read">
      <Content />
    </Allowed>
  );
}

function Content(): ReactNode {
  const may = useMay();
  const { q = '' } = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const partners = useQuery(query('partners', PartnersDocument, {}));
  return (
    <div className="page">
      <PageHead title="Partners" lead="Orders and volume are of the last 30 days.">
        <input
          className="input finder"
          aria-label="Find a partner"
          placeholder="Find a partner"
          value={q}
          onChange={({ target }) => navigate({ to: '/partners', search: { q: target.value }, replace: true })}
        />
        <Actions
          of={[
            may('partners:write') && {
              name: 'New partner',
              icon: 'plus',
              title: 'New partner',
              about: "An active partner with the gateway's pricing and limits, and without a key.",
              fields: [{ name: 'name', label: 'Name' }],
              run: ({ name = '', reason = '' }) => send(CreatePartnerDocument, { name, reason }),
            },
          ]}
        />
      </PageHead>
      <Card title="All partners" flush>
        <Loaded of={partners}>
          {(data) => {
            const rows = data.partners
              .filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()))
              .map((partner) => ({
                ...partner,
                orders: partner.usage.reduce((sum, { created }) => sum + created, 0),
                volume: sumOf(partner.usage.map(({ volumeUsd }) => volumeUsd)),
                revenue: sumOf(partner.usage.map(({ revenueUsd }) => revenueUsd)),
              }))
              .sort((a, b) => Number(b.volume) - Number(a.volume));
            const most = Math.max(...rows.map(({ volume }) => Number(volume)), 1);
            if (rows.length === 0) {
              return (
                <Empty icon="partners" title={q === '' ? 'There is no partner yet' : `No partner is called ${q}`}>
                  <p>Partners create orders with their keys.</p>
                </Empty>
              );
            }
            return (
              <Table
                label="Partners"
                head={
                  <>
                    <th>Partner</th>
                    <th>Status</th>
                    <th className="number">Float fee</th>
                    <th className="number">Fixed fee</th>
                    <th className="number">Orders</th>
                    <th className="number">Revenue</th>
                    <th className="number">Volume</th>
                    <th className="share">
                      <span className="hidden">Share of the volume</span>
                    </th>
                  </>
                }
              >
                {rows.map(({ id, name, status, pricing, orders, volume, revenue }) => (
                  <tr key={id}>
                    <td>
                      <Link to="/partners/$id" params={{ id }} className="strong">
                        {name}
                      </Link>
                    </td>
                    <td>
                      <Badge tone={status === 'ACTIVE' ? 'good' : 'bad'}>
                        {status === 'ACTIVE' ? 'Active' : 'Blocked'}
                      </Badge>
                    </td>
                    <td className="number">{percent(pricing.float)}</td>
                    <td className="number">{percent(pricing.fixed)}</td>
                    <td className="number">{count(orders)}</td>
                    <td className="number">{usd(revenue)}</td>
                    <td className="number strong">{usd(volume)}</td>
                    <td className="share">
                      <Meter share={Number(volume) / most} label={`${usd(volume)} of volume`} />
                    </td>
                  </tr>
                ))}
              </Table>
            );
          }}
        </Loaded>
      </Card>
    </div>
  );
}
