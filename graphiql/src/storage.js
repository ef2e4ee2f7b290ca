/** The browser's storage without request headers: they hold tokens, and GraphiQL's history would keep them. */
export function storageWithoutHeaders(storage) {
  return {
    getItem: key => storage.getItem(key),
    setItem: (key, value) => storage.setItem(key, withoutHeaders(value)),
    removeItem: key => storage.removeItem(key),
    clear: () => storage.clear(),
    get length() {
      return storage.length;
    },
  };
}

/** Sets the headers of tabs and history entries to null; GraphiQL does not restore a tab that lacks them. */
function withoutHeaders(text) {
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    return text;
  }
  return JSON.stringify(content, function (key, value) {
    // A tab or an entry also has a query; variables may have a value of that name.
    return key === 'headers' && 'query' in this ? null : value;
  });
}
