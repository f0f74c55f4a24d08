import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../ui/styles.css';
import '../ui/layout.css';
import './console.css';
import { applyTheme } from '../ui/theme.ts';
import { queries } from './api.ts';
import { startLive } from './live.ts';
import { router } from './router.tsx';

applyTheme();
startLive();
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
