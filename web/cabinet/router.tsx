import type { ErrorComponentProps } from '@tanstack/react-router';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Failed } from '../ui/page.tsx';
import { Empty } from '../ui/parts.tsx';
import type { Search } from '../ui/search.ts';
import { Shell } from './shell.tsx';

const failed = ({ error, reset }: ErrorComponentProps): ReactNode => (
  <Failed error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
);

const root = createRootRoute({
  component: Outlet,
  validateSearch: (search): Search => search as Search,
  notFoundComponent: () => (
    <div className="door">
      <main id="content">
        <Empty icon="search" title="There is no such page">
          <p>The address may be mistyped, or from another version of the cabinet.</p>
          <a className="button" href="/cabinet/">
            Home
          </a>
        </Empty>
      </main>
    </div>
  ),
  errorComponent: failed,
});

/** The pages that need a session, inside their frame. */
const inside = createRoute({ getParentRoute: () => root, id: 'inside', component: Shell });

const page = <Path extends string, Name extends string>(
  path: Path,
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
) =>
  createRoute({
    getParentRoute: () => inside,
    path,
    component: lazyRouteComponent(load, name),
    errorComponent: failed,
  });

/** A page's earlier address. */
const moved = (path: string, to: '/ip-addresses' | '/commission') =>
  createRoute({
    getParentRoute: () => inside,
    path,
    beforeLoad: ({ search }) => {
      throw redirect({ to, search, replace: true });
    },
  });

const routes = root.addChildren([
  inside.addChildren([
    page('/', () => import('./pages/home.tsx'), 'Home'),
    page('/keys', () => import('./pages/keys.tsx'), 'Keys'),
    page('/orders', () => import('./pages/orders.tsx'), 'Orders'),
    page('/orders/$id', () => import('./pages/order.tsx'), 'Order'),
    page('/webhooks', () => import('./pages/webhooks.tsx'), 'Webhooks'),
    page('/ip-addresses', () => import('./pages/ip-addresses.tsx'), 'IpAddresses'),
    page('/limits', () => import('./pages/limits.tsx'), 'Limits'),
    moved('/networks', '/ip-addresses'),
    page('/team', () => import('./pages/team.tsx'), 'Team'),
    page('/commission', () => import('./pages/commission.tsx'), 'Commission'),
    moved('/statements', '/commission'),
    page('/me', () => import('./pages/me.tsx'), 'Me'),
  ]),
  createRoute({
    getParentRoute: () => root,
    path: '/invitation',
    component: lazyRouteComponent(() => import('./pages/invitation.tsx'), 'Invitation'),
  }),
]);

/** The pages by their addresses below /cabinet. */
export const router = createRouter({
  routeTree: routes,
  basepath: '/cabinet',
  defaultPreload: 'intent',
  scrollRestoration: true,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search as Search).filter((pair): pair is [string, string] => Boolean(pair[1]));
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
