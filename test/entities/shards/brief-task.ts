// A task that ends at once.
export default function brief(): void {}
