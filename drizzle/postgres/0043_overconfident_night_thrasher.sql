ALTER TABLE "authorizations" ADD COLUMN "poll_at" bigint;--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "poll_seconds" integer;--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "lease_owner" text;--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "lease_until" bigint;--> statement-breakpoint
CREATE INDEX "authorizations_poll" ON "authorizations" USING btree ("poll_at") WHERE poll_at is not null;