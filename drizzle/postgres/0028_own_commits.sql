CREATE TABLE "commits" (
	"writer" text NOT NULL,
	"slot" integer NOT NULL,
	"number" bigint NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "commits_writer_slot_pk" PRIMARY KEY("writer","slot")
);
