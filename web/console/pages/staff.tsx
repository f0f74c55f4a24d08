import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { words } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Badge, Card, Copy, Notice, Table } from '../../ui/parts.tsx';
import { query } from '../api.ts';
import {
  ApproveStaffChangeDocument,
  InviteStaffDocument,
  RejectStaffChangeDocument,
  RenewStaffTokenDocument,
  RevokeStaffDocument,
  SetStaffRoleDocument,
  StaffDocument,
  type StaffQuery,
  type StaffRole,
} from '../generated/graphql.ts';
import { Allowed, useMay, useMember } from '../session.tsx';
import { type Action, Actions, send } from '../shared.tsx';

const roles = [
  ['VIEWER', 'Viewer: reads'],
  ['SUPPORT', 'Support: writes notes and holds orders'],
  ['OPERATOR', 'Operator: proposes and approves, manages partners'],
  ['ADMIN', 'Admin: manages staff, fees, limits and prices'],
] as const satisfies readonly (readonly [StaffRole, string])[];

/** Members, their roles, and changes that wait for a second admin. */
export function Staff(): ReactNode {
  return (
    <Allowed to="staff:read">
      <Content />
    </Allowed>
  );
}

interface Outcome {
  readonly enrolmentCode: string | null;
  readonly change: { readonly state: string };
}

/** What a change of staff led to: done with a code, done, or waiting. */
function outcomeShown({ enrolmentCode, change }: Outcome): ReactNode {
  if (change.state === 'PROPOSED') return <Notice>The change waits for a second admin.</Notice>;
  if (change.state === 'REJECTED') return <Notice tone="good">The change has ended, and nothing happened.</Notice>;
  if (enrolmentCode === null) return <Notice tone="good">Done.</Notice>;
  return (
    <div className="stack">
      <Notice tone="warn">
        The enrolment code is shown once. The member enters it at the sign-in page within three days.
      </Notice>
      <p className="secret">
        <Copy text={enrolmentCode} label="enrolment code" />
      </p>
    </div>
  );
}

function Content(): ReactNode {
  const may = useMay();
  // A code that is shown once would leave with its row when the window gets the focus back.
  const staff = useQuery({ ...query('staff', StaffDocument, {}), refetchOnWindowFocus: false });
  const invite: Action<{ staffInvite: Outcome }> = {
    name: 'Invite',
    icon: 'plus',
    title: 'Invite a member',
    about:
      'A second admin approves, unless there is none. The member then enrols with a code, or signs in at the identity provider.',
    fields: [
      { name: 'email', label: 'E-mail address' },
      { name: 'role', label: 'Role', kind: 'choice', choices: roles, initial: 'VIEWER' },
    ],
    run: ({ email = '', role = '', reason = '' }) =>
      send(InviteStaffDocument, { email: email.trim(), role: role as StaffRole, reason }),
    shown: ({ staffInvite }) => outcomeShown(staffInvite),
  };
  return (
    <div className="page">
      <PageHead title="Staff" lead="A change of staff needs a second admin.">
        {may('staff:write') ? <Actions of={[invite as Action]} /> : null}
      </PageHead>
      <Loaded of={staff}>
        {(data) => (
          <>
            <Changes changes={data.staffChanges} />
            <Members members={data.staff} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function Changes({ changes }: { changes: StaffQuery['staffChanges'] }): ReactNode {
  const { id: own } = useMember();
  const may = useMay();
  if (changes.length === 0) return null;
  return (
    <Card title="Waiting for a second admin" flush>
      <ul className="queue">
        {changes.map(({ id, change, email, member, role, reason, proposedBy, proposedAt, approvableFrom }) => (
          <li key={id}>
            <span className="kind">
              <Badge tone="warn">{words(change)}</Badge>
            </span>
            <span className="detail">
              <span className="strong">{member?.email ?? email}</span>
              {role ? ` as ${role.toLowerCase()}` : ''}: {reason}
              <br />
              <span className="muted small">
                {proposedBy.email} · <Ago at={proposedAt} />
                {proposedBy.id === own ? ' · another admin must approve it' : ''}
              </span>
            </span>
            <span className="row tight">
              <Actions small of={may('staff:write') ? changeActions(id, proposedBy.id === own, approvableFrom) : []} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function changeActions(id: string, isOwn: boolean, notBefore: string | null): readonly Action[] {
  const approve: Action<{ staffChangeApprove: Outcome }> = {
    name: 'Approve',
    icon: 'check',
    title: 'Approve the change',
    notBefore,
    about: 'It is carried out at once.',
    run: ({ reason = '' }) => send(ApproveStaffChangeDocument, { id, reason }),
    shown: ({ staffChangeApprove }) => outcomeShown(staffChangeApprove),
  };
  const reject: Action = {
    name: isOwn ? 'Withdraw' : 'Reject',
    icon: 'close',
    title: isOwn ? 'Withdraw the change' : 'Reject the change',
    about: 'A member that it suspended may act again.',
    isDangerous: true,
    run: ({ reason = '' }) => send(RejectStaffChangeDocument, { id, reason }),
  };
  return isOwn ? [reject] : [approve as Action, reject];
}

type MemberView = StaffQuery['staff'][number];

function Members({ members }: { members: readonly MemberView[] }): ReactNode {
  const { id: own } = useMember();
  const may = useMay();
  return (
    <Card title={`${members.length} members`} flush>
      <Table
        label="Members"
        head={
          <>
            <th>Member</th>
            <th>Role</th>
            <th>State</th>
            <th>Signs in by</th>
            <th>Since</th>
            <th>
              <span className="hidden">Actions</span>
            </th>
          </>
        }
      >
        {members.map((member) => (
          <tr key={member.id}>
            <td className="strong">
              {member.email} {member.id === own ? <span className="muted">(you)</span> : null}
            </td>
            <td>{words(member.role)}</td>
            <td>
              <MemberState of={member} />
            </td>
            <td className="muted">{member.hasToken ? 'token' : 'identity provider'}</td>
            <td className="muted nowrap">{member.createdAt.slice(0, 10)}</td>
            <td>
              <span className="row tight nowrap-row">
                <Actions small of={may('staff:write') && member.revokedAt === null ? memberActions(member) : []} />
              </span>
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function MemberState({ of: { revokedAt, suspendedAt, approvesFrom } }: { of: MemberView }): ReactNode {
  if (revokedAt) return <Badge>Revoked</Badge>;
  if (suspendedAt) return <Badge tone="bad">Suspended</Badge>;
  if (approvesFrom && Date.parse(approvesFrom) > Date.now()) {
    return (
      <Badge tone="warn">
        Approves <Ago at={approvesFrom} />
      </Badge>
    );
  }
  return <Badge tone="good">Active</Badge>;
}

function memberActions({ id, email, role }: MemberView): readonly Action[] {
  const change: Action<{ staffRole: Outcome }> = {
    name: 'Role',
    title: `Role of ${email}`,
    about: "Ends the member's sessions. A lower role also ends the token.",
    fields: [{ name: 'role', label: 'Role', kind: 'choice', choices: roles, initial: role }],
    run: ({ role: next = '', reason = '' }) => send(SetStaffRoleDocument, { id, role: next as StaffRole, reason }),
    shown: ({ staffRole }) => outcomeShown(staffRole),
  };
  const token: Action<{ staffToken: Outcome }> = {
    name: 'New token',
    title: `New token for ${email}`,
    about: 'The old token and the sessions end at once.',
    run: ({ reason = '' }) => send(RenewStaffTokenDocument, { id, reason }),
    shown: ({ staffToken }) => outcomeShown(staffToken),
  };
  const revoke: Action<{ staffRevoke: Outcome }> = {
    name: 'Revoke',
    title: `Revoke ${email}`,
    about: 'Suspended at once. A second admin decides whether it is for good.',
    isDangerous: true,
    run: ({ reason = '' }) => send(RevokeStaffDocument, { id, reason }),
    shown: ({ staffRevoke }) => outcomeShown(staffRevoke),
  };
  return [change as Action, token as Action, revoke as Action];
}
