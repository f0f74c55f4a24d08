import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { faultsOf } from '../ui/failure.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { type Chord, KeysDialog, useChords } from '../ui/keys.tsx';
import { EnvironmentMark, ThemeButton } from '../ui/page.tsx';
import { Skeleton } from '../ui/parts.tsx';
import { call, type Schemas } from './api.ts';
import icon from './icon.svg';
import { noteSignOut, useLine } from './line.ts';
import { SecretHost } from './secret.tsx';
import { Session, useMay, useMe } from './session.tsx';

interface Place extends Chord {
  readonly to: '/' | '/keys' | '/orders' | '/webhooks' | '/ip-addresses' | '/limits' | '/team' | '/commission';
  readonly icon: IconName;
  /** What a person needs to see it; null for everyone. */
  readonly right: Schemas['Right'] | null;
}

const places: readonly Place[] = [
  { to: '/', name: 'Home', icon: 'overview', key: 'h', right: null },
  { to: '/orders', name: 'Orders', icon: 'orders', key: 'o', right: 'orders:read' },
  { to: '/keys', name: 'Keys', icon: 'key', key: 'k', right: 'keys:read' },
  { to: '/webhooks', name: 'Webhooks', icon: 'webhook', key: 'w', right: 'webhooks:read' },
  { to: '/ip-addresses', name: 'IP addresses', icon: 'networks', key: 'i', right: 'keys:read' },
  { to: '/limits', name: 'Limits', icon: 'gauge', key: 'l', right: 'orders:read' },
  { to: '/commission', name: 'Commission', icon: 'statements', key: 'c', right: 'statements:read' },
  { to: '/team', name: 'Team', icon: 'partners', key: 't', right: 'team:read' },
];

/** The frame of all pages: navigation, keys, and what keeps the page from the gateway. */
export function Shell(): ReactNode {
  return (
    <Session>
      <SecretHost>
        <Frame />
      </SecretHost>
    </Session>
  );
}

function Frame(): ReactNode {
  const may = useMay();
  const { partner, environment } = useMe();
  const { isDown } = useLine();
  const [isHelp, setHelp] = useState(false);
  const [isMenu, setMenu] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const navigate = useNavigate();
  const shown = places.filter(({ right }) => right === null || may(right));
  useChords(
    shown,
    (place) => void navigate({ to: place.to }),
    (key) => {
      if (key === '?') setHelp(true);
      return key === '?';
    },
  );
  useEffect(() => setMenu(false), [path]);
  return (
    <div className="frame">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <EnvironmentMark environment={environment} />
      <header className="top">
        <button
          type="button"
          className="button quiet square menu-button"
          aria-label="Navigation"
          aria-expanded={isMenu}
          onClick={() => setMenu(!isMenu)}
        >
          <Icon name={isMenu ? 'close' : 'menu'} />
        </button>
        <Link to="/" className="brand" aria-label="Partner cabinet, home">
          <img src={icon} alt="" width="26" height="26" />
          <span>Cabinet</span>
        </Link>
        <p className="partner-name">{partner.name}</p>
        <ThemeButton />
        <button
          type="button"
          className="button quiet square help-button"
          aria-label="Help"
          onClick={() => setHelp(true)}
        >
          <Icon name="help" />
        </button>
        <MemberMenu />
      </header>
      <nav className={`side ${isMenu ? 'open' : ''}`} aria-label="Pages">
        <ul>
          {shown.map(({ to, name, icon }) => (
            <li key={to}>
              <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
                <Icon name={icon} />
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        {isDown ? (
          <p className="line-state" role="status">
            <Icon name="refresh" /> The gateway does not answer. It may be restarting. What you typed stays, and the
            page goes on by itself.
          </p>
        ) : null}
        <Suspense fallback={<Skeleton lines={8} />}>
          <Outlet />
        </Suspense>
      </main>
      {isHelp ? (
        <KeysDialog chords={shown} onClose={() => setHelp(false)}>
          <p className="muted small">
            Times are UTC, with your local time on hover. Amounts are exact; lists cut decimals and never round.
          </p>
        </KeysDialog>
      ) : null}
    </div>
  );
}

function MemberMenu(): ReactNode {
  const { member } = useMe();
  const [fault, setFault] = useState<string | null>(null);
  const signOut = async (): Promise<void> => {
    setFault(null);
    try {
      await call('signOut', {});
    } catch (error) {
      setFault(`You may still be signed in: ${faultsOf(error).whole}`);
      return;
    }
    noteSignOut();
    // A new page: nothing of this session stays in memory.
    location.assign('/cabinet/');
  };
  return (
    <div className="member">
      <button
        type="button"
        className="button quiet member-button"
        popoverTarget="member-menu"
        aria-label={`Signed in as ${member.name}`}
      >
        <span className="initial" aria-hidden="true">
          {member.name.charAt(0).toUpperCase()}
        </span>
      </button>
      <div id="member-menu" popover="auto" className="menu">
        <p className="strong cut">{member.name}</p>
        <p className="muted small">{member.role}</p>
        <hr />
        <Link to="/me" onClick={() => document.getElementById('member-menu')?.hidePopover()}>
          <Icon name="passkey" /> My passkeys and sessions
        </Link>
        <button type="button" onClick={signOut}>
          <Icon name="out" /> Sign out
        </button>
        {fault === null ? null : (
          <p role="alert" className="bad-text small">
            {fault}
          </p>
        )}
      </div>
    </div>
  );
}
