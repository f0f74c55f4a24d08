import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { words } from '../../ui/format.ts';
import { Loaded, PageHead } from '../../ui/page.tsx';
import { Ago, Badge, Card, Facts, Notice, Time } from '../../ui/parts.tsx';
import { call, query, type Schemas } from '../api.ts';
import { browserName } from '../passkey-names.ts';
import { addPasskey } from '../passkeys.ts';
import { useMe } from '../session.tsx';
import { type Action, Actions } from '../shared.tsx';
import { PasskeyButton } from '../sign-in.tsx';

/** Who is signed in, with the person's passkeys and sessions. */
export function Me(): ReactNode {
  const { member, partner, rights, session } = useMe();
  return (
    <div className="page">
      <PageHead title="My account" lead="Your passkeys and your sessions." />
      <div className="halves">
        <Passkeys />
        <Card title="You">
          <Facts
            of={[
              ['Name', member.name],
              ['Partner', partner.name],
              ['Role', words(member.role)],
              ['You may', rights.join(', ')],
              ['Signed in', <Time key="s" at={session.signed_in_at} />],
              ['At the latest until', <Time key="u" at={session.expires_at} />],
            ]}
          />
        </Card>
      </div>
      <Sessions />
    </div>
  );
}

function Passkeys(): ReactNode {
  const passkeys = useQuery(query('listPasskeys', {}));
  const client = useQueryClient();
  const add = async (): Promise<void> => {
    await addPasskey();
    await client.invalidateQueries();
  };
  return (
    <Card title="Passkeys" flush>
      <Loaded of={passkeys} lines={3}>
        {({ data }) => (
          <>
            {data.length === 1 ? (
              <div className="item">
                <Notice tone="warn">
                  You have one passkey. Add a second one on another device, or on a security key, so that a lost device
                  does not lock you out.
                </Notice>
              </div>
            ) : null}
            <ul className="items">
              {data.map((passkey) => (
                <li key={passkey.id} className="item">
                  <header>
                    <div>
                      <h3 className="item-title">{passkey.name || 'Passkey'}</h3>
                      <span className="muted small">
                        made <Ago at={passkey.created_at} />
                        {passkey.last_used_at ? (
                          <>
                            , used <Ago at={passkey.last_used_at} />
                          </>
                        ) : (
                          ', not used yet'
                        )}
                      </span>
                    </div>
                    {data.length > 1 ? <Actions of={[removePasskey(passkey)]} small /> : null}
                  </header>
                </li>
              ))}
            </ul>
            <div className="item">
              <PasskeyButton name="Add a passkey" run={add} isQuiet />
            </div>
          </>
        )}
      </Loaded>
    </Card>
  );
}

function removePasskey({ id, name }: Schemas['Passkey']): Action {
  return {
    name: 'Remove',
    icon: 'trash',
    title: `Remove ${name || 'the passkey'}`,
    about: 'It no longer signs you in. Delete it on its device as well.',
    isDangerous: true,
    needsPasskey: true,
    run: async () => {
      await call('removePasskey', { path: { passkey_id: id } });
      return null;
    },
  };
}

function Sessions(): ReactNode {
  const sessions = useQuery(query('listSessions', {}));
  return (
    <Card title="Sessions" flush>
      <Loaded of={sessions} lines={3}>
        {({ data }) => (
          <ul className="items">
            {data.map(({ id, is_current, created_at, last_seen_at, network, browser }) => (
              <li key={id} className="item">
                <header>
                  <div>
                    <h3 className="item-title" title={browser}>
                      {browserName(browser)}
                    </h3>
                    <span className="muted small">
                      from {network}, since <Time at={created_at} />, active <Ago at={last_seen_at} />
                    </span>
                  </div>
                  {is_current ? <Badge tone="good">This one</Badge> : <Actions of={[endSession(id)]} small />}
                </header>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

function endSession(id: string): Action {
  return {
    name: 'End',
    icon: 'out',
    title: 'End the session',
    about: 'The browser of that session is signed out at its next request.',
    isDangerous: true,
    run: async () => {
      await call('endSession', { path: { session_id: id } });
      return null;
    },
  };
}
