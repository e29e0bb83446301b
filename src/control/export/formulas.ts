// Cells of CSV files that a spreadsheet would take for a formula. All doors of CSV files ask here.

/**
 * The start of such a text, for JavaScript and RE2 alike: a sign of formulas, also in its full-width or small form, behind any
 * blanks and invisible characters, which spreadsheets leave out; or a character that begins another cell or line.
 */
const formulaStart = '^[\\p{Z}\\p{C}]*[=+\\-@＝＋－＠﹦﹢﹣﹫]|^[\\t\\r\\n]'

const startsFormula = new RegExp(formulaStart, 'u')
/** A number is shown as what it is. */
const isNumber = /^-?\d+(\.\d+)?$/

/** A text that no spreadsheet runs: behind a quote where one would. */
export const inertText = (text: string): string =>
  startsFormula.test(text) && !isNumber.test(text) ? `'${text}` : text

/** The same as an expression of ClickHouse. `text`: an expression whose value is a text of a caller. */
export function inertExpression(text: string): string {
  const pattern = formulaStart.replaceAll('\\', '\\\\')
  return `if(match(${text}, '${pattern}'), concat('\\'', ${text}), ${text})`
}
