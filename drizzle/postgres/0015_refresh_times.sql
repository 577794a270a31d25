ALTER TABLE "connections" ADD COLUMN "refresh_expires_at" bigint;--> statement-breakpoint
ALTER TABLE "connections" ADD COLUMN "refresh_at" bigint;--> statement-breakpoint
ALTER TABLE "connections" ADD COLUMN "unanswered_since" bigint;--> statement-breakpoint
CREATE INDEX "connections_refresh_at" ON "connections" USING btree ("refresh_at") WHERE status = 'active' and refresh_at is not null;