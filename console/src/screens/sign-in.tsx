// Signing in: with a one-time link, a key, or sign-on.
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { base, Refused, readSession, signIn } from '../app/api.js'
import { Button, Failure, Field, Input } from '../ui/basics.js'

/** The token of a link in the address. */
function tokenInAddress(): string | null {
  const [path, search = ''] = location.hash.split('?')
  return path === '#/sign-in' ? new URLSearchParams(search).get('token') : null
}

/** Why a sign-on was refused, as the service told in a cookie, which is removed; null: nothing was. */
function takeRefusal(): string | null {
  const told = /(?:^|; )tollgate_sign_on_refusal=([^;]*)/.exec(document.cookie)?.[1]
  if (told === undefined) return null
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
  document.cookie = 'tollgate_sign_on_refusal=; Max-Age=0'
  return decodeURIComponent(told)
}

export function SignInForm({
  onDone,
  embedded = false,
}: {
  readonly onDone: () => void
  readonly embedded?: boolean
}) {
  const [secret, setSecret] = useState('')
  const [failure, setFailure] = useState<unknown>(() => {
    const refusal = takeRefusal()
    return refusal === null ? null : new Error(refusal)
  })
  const [busy, setBusy] = useState(false)
  const session = useQuery({ queryKey: ['session'], queryFn: readSession, retry: false })
  const enter = async (by: { key: string } | { token: string }) => {
    setBusy(true)
    setFailure(null)
    try {
      await signIn(by)
      setSecret('')
      if (location.hash.startsWith('#/sign-in')) history.replaceState(null, '', '#/')
      onDone()
    } catch (error) {
      const isUnknown = error instanceof Refused && error.status === 401
      setFailure(
        isUnknown ? new Error('This key or link is unknown, was used already, or has expired') : error,
      )
    } finally {
      setBusy(false)
    }
  }
  useEffect(() => {
    const enterByLink = () => {
      const token = tokenInAddress()
      if (token === null) return
      history.replaceState(null, '', '#/sign-in')
      void enter({ token })
    }
    enterByLink()
    // a link that is opened in this very tab changes the address without loading the page again
    addEventListener('hashchange', enterByLink)
    return () => removeEventListener('hashchange', enterByLink)
  }, [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const pasted = secret.trim()
    const link = /[?&]token=([\w-]+)/.exec(pasted)?.[1] ?? (pasted.startsWith('l_') ? pasted : null)
    if (pasted !== '') void enter(link === null ? { key: pasted } : { token: link })
  }
  const form = (
    <form onSubmit={submit}>
      {failure !== null && <Failure error={failure} />}
      <div className="mt-3">
        <Field
          label="Secret key or one-time link"
          hint={
            <>
              <code>tollgate console</code> makes a link. A key is exchanged for a session and not kept in
              this page.
            </>
          }
        >
          {id => (
            <Input
              id={id}
              type="password"
              autoComplete="off"
              required
              value={secret}
              onChange={event => setSecret(event.currentTarget.value)}
            />
          )}
        </Field>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button look="primary" type="submit" disabled={busy}>
          Sign in
        </Button>
        {session.data?.sign_on && (
          <a
            className="inline-flex min-h-9 items-center rounded-md border border-line px-3 font-medium hover:bg-raised"
            href={new URL('sign-on', base).href}
            {...(embedded && { target: '_blank' })}
          >
            Sign in with your organisation
          </a>
        )}
        {embedded && <Button onClick={onDone}>I signed in elsewhere</Button>}
      </div>
    </form>
  )
  if (embedded) return form
  return (
    <main className="mx-auto flex min-h-full max-w-sm flex-col justify-center p-6">
      <h1 className="text-2xl font-semibold">Tollgate</h1>
      <p className="mb-2 text-muted">Sign in to the console.</p>
      {form}
    </main>
  )
}
