import type { ReactNode } from 'react';
import { words } from '../../ui/format.ts';
import { PageHead } from '../../ui/page.tsx';
import { Card, Facts } from '../../ui/parts.tsx';
import { useMember } from '../session.tsx';

/** Who is signed in, and what the member may do. */
export function Me(): ReactNode {
  const { email, role, permissions } = useMember();
  return (
    <div className="page">
      <PageHead title="What I may do" />
      <Card title="Member">
        <Facts
          of={[
            ['E-mail address', email],
            ['Role', words(role)],
            ['Session', 'Ends after 30 minutes without an action of yours, and after 10 hours.'],
          ]}
        />
      </Card>
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
