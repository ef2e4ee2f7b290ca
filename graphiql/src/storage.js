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

function withoutHeaders(text) {
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    return text;
  }
  return JSON.stringify(content, (key, value) => (key === 'headers' ? undefined : value));
}
