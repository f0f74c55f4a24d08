import { createContext, type ReactNode, useContext, useState } from 'react';
import { SecretDialog } from '../ui/dialog.tsx';

/** A secret that an action made, for the dialog that shows it once. */
export interface Secret {
  readonly title: string;
  readonly about: ReactNode;
  readonly label: string;
  readonly text: string;
  /** It is for another person: it is sent, not stored. */
  readonly isForOther?: boolean;
}

const SecretContext = createContext<(secret: Secret) => void>(() => undefined);

/**
 * Shows a secret over the pages until it is stored. It is held here, because the part of the page
 * that asked for it may go: a key that was rolled moves to another list.
 */
export function SecretHost({ children }: { children: ReactNode }): ReactNode {
  const [secret, setSecret] = useState<Secret | null>(null);
  return (
    <SecretContext value={setSecret}>
      {children}
      {secret ? (
        <SecretDialog
          title={secret.title}
          about={secret.about}
          label={secret.label}
          secret={secret.text}
          isForOther={secret.isForOther ?? false}
          onStored={() => setSecret(null)}
        />
      ) : null}
    </SecretContext>
  );
}

/** Shows a secret that an action made. */
export function useShowSecret(): (secret: Secret) => void {
  return useContext(SecretContext);
}
