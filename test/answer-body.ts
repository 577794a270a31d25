/** The JSON of an answer: tests look into answers of every shape. */
// biome-ignore lint/suspicious/noExplicitAny: its shape is what the tests check
export type AnswerBody = any
