import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { words } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Badge, Card, Facts, Time } from '../../ui/parts.tsx';
import { query } from '../api.ts';
import { EndSessionDocument, SessionsDocument } from '../generated/graphql.ts';
import { useMember } from '../session.tsx';
import { Actions, send } from '../shared.tsx';

/** Who is signed in, and what the member may do. */
export function Me(): ReactNode {
  const { email, role, permissions } = useMember();
  return (
    <div className="page">
      <PageHead title="My access and sessions" />
      <Card title="Member">
        <Facts
          of={[
            ['E-mail address', email],
            ['Role', words(role)],
            ['Session', 'Ends after 30 minutes without an action of yours, and after 10 hours.'],
          ]}
        />
      </Card>
      <Sessions />
      <Card title={`${permissions.length} permissions`}>
        <ul className="permissions">
          {permissions.map((permission) => (
            <li key={permission}>
              <code>{permission}</code>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

/** The member's open sessions. The present one ends by 'Sign out'. */
function Sessions(): ReactNode {
  const sessions = useQuery(query('sessions', SessionsDocument, {}));
  return (
    <Card title="Open sessions" flush>
      <Loaded of={sessions} lines={2}>
        {({ sessions: open }) => (
          <ul className="queue">
            {open.map(({ id, via, createdAt, lastSeenAt, expiresAt, isCurrent }) => (
              <li key={id}>
                <Badge tone={isCurrent ? 'good' : 'plain'}>{isCurrent ? 'This browser' : 'Another browser'}</Badge>
                <span className="detail">
                  Signed in {via === 'OIDC' ? 'at the identity provider' : 'with a token'} at <Time at={createdAt} />
                  <br />
                  <span className="muted small">
                    last used <Ago at={lastSeenAt} /> · ends at <Time at={expiresAt} />
                  </span>
                </span>
                {isCurrent ? null : (
                  <Actions
                    small
                    of={[
                      {
                        name: 'End',
                        title: 'End the session',
                        about: 'The next request of that browser is refused. It must sign in again.',
                        isDangerous: true,
                        run: ({ reason = '' }) => send(EndSessionDocument, { id, reason }),
                      },
                    ]}
                  />
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}
