import { pick, useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

/** Keeps the active tab in view: when it is opened or renamed, and when the row of tabs changes its width. */
export function ActiveTabInView() {
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  useEffect(() => {
    const row = document.querySelector('.graphiql-tabs');
    const observer = new ResizeObserver(() =>
      row.querySelector('.graphiql-tab-active')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    );
    // An observer is also called once when it begins.
    observer.observe(row);
    return () => observer.disconnect();
  }, [tabs, activeTabIndex]);
  return null;
}
