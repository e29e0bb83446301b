/** The same bytes, read and written as numbers of any width. */
export function dataViewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length)
}
