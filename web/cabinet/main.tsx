import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../ui/styles.css';
import '../ui/layout.css';
import './cabinet.css';
import { applyTheme } from '../ui/theme.ts';
import { queries } from './api.ts';
import { takeInvitation } from './invitation.ts';
import { router } from './router.tsx';

applyTheme();
// Before the router reads the address, so that no entry of the history keeps the token.
takeInvitation();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
