// The pages of an environment, as the list beside them and the palette name them.
import {
  Activity,
  Building2,
  CircleHelp,
  Coins,
  Flag,
  Gauge,
  History,
  KeyRound,
  Package,
  ReceiptText,
  Server,
  Tag,
  Webhook,
} from 'lucide-react'

export const pages = [
  ['/overview', 'Overview', Gauge],
  ['/companies', 'Companies', Building2],
  ['/why', 'Why?', CircleHelp],
  ['/plans', 'Plans', Package],
  ['/features', 'Features', Tag],
  ['/flags', 'Flags', Flag],
  ['/credits', 'Credits', Coins],
  ['/charges', 'Charges', ReceiptText],
  ['/events', 'Events', Activity],
  ['/webhooks', 'Webhooks', Webhook],
  ['/keys', 'Keys and members', KeyRound],
  ['/audit', 'Audit', History],
  ['/system', 'System', Server],
] as const
