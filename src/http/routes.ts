// The whole interface on one page. One line per operation, sorted by path: add yours in its place.
import { assertDistinct, type Route } from './route.js'

export const routes: readonly Route[] = []

assertDistinct(routes)
