import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { Failed } from '../ui/page.tsx';
import { Empty } from '../ui/parts.tsx';
import { query } from './api.ts';
import { MeDocument, type MeQuery } from './generated/graphql.ts';

type Member = MeQuery['me'];

const SessionContext = createContext<Member | null>(null);

/** Shows the pages once it is known who is signed in. */
export function Session({ children }: { children: ReactNode }): ReactNode {
  const { data, error, refetch } = useQuery({ ...query('me', MeDocument, {}), staleTime: 60_000 });
  if (data) return <SessionContext value={data.me}>{children}</SessionContext>;
  if (error) return <Failed error={error} retry={refetch} />;
  return (
    <Empty icon="refresh" title="Opening the console">
      <p>Asking who is signed in.</p>
    </Empty>
  );
}

/** The member who is signed in. */
export function useMember(): Member {
  const member = useContext(SessionContext);
  if (!member) throw new Error('there is no session around this component');
  return member;
}

/** Whether the member has a permission. The server decides again on each request. */
export function useMay(): (permission: string) => boolean {
  const { permissions } = useMember();
  return (permission) => permissions.includes(permission);
}

/** Shows a page to those who may see it, and says to others what is missing. */
export function Allowed({ to, children }: { to: string; children: ReactNode }): ReactNode {
  const may = useMay();
  const { role } = useMember();
  if (may(to)) return children;
  return (
    <Empty icon="lock" title="Your role does not show this page">
      <p>
        It needs the permission <code>{to}</code>, which the role {role.toLowerCase()} does not have. An admin can
        change your role.
      </p>
    </Empty>
  );
}
