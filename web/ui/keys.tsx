import { type ReactNode, useEffect, useRef } from 'react';
import { Dialog } from './dialog.tsx';

/** A page that 'g' and a letter lead to. */
export interface Chord {
  readonly key: string;
  readonly name: string;
}

/**
 * Listens for 'g' with a letter, and for single keys, unless the person types or a dialog is open.
 * `other` says whether it knows a single key.
 */
export function useChords<Place extends Chord>(
  places: readonly Place[],
  go: (place: Place) => void,
  other: (key: string) => boolean,
): void {
  const latest = useRef({ places, go, other });
  latest.current = { places, go, other };
  useEffect(() => {
    let isChord = false;
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      const isTyping = target.closest('input, textarea, select, dialog, [contenteditable]') !== null;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const place = latest.current.places.find(({ key }) => key === event.key);
      if (isChord && place) latest.current.go(place);
      else if (!latest.current.other(event.key)) {
        isChord = event.key === 'g';
        return;
      }
      isChord = false;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** The keys of the pages. */
export function KeysDialog(props: {
  chords: readonly Chord[];
  more?: readonly (readonly [string, string])[];
  onClose: () => void;
  children?: ReactNode;
}): ReactNode {
  return (
    <Dialog title="Keys" onClose={props.onClose}>
      <dl className="keys">
        {props.chords.map(({ key, name }) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
        {[...(props.more ?? []), ['?', 'This help'], ['Esc', 'Close a window']].map(([key, name]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
      {props.children}
    </Dialog>
  );
}
